"""What the official packages send for the same requests, one file a provider: path, headers, body.

    python -m venv VENV && VENV/bin/pip install -r crates/llm/tests/providers/requirements.txt
    VENV/bin/python crates/llm/tests/providers/record.py

Each client is pointed at a recorder on 127.0.0.1, which answers nothing of use: what it was sent is all that matters.
Headers that say which machine, package or version sent them are left out.
"""

import json
import os
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

# The clients read these, and would send other things with them.
for name in list(os.environ):
    if name.startswith(("OPENAI_", "AZURE_", "ANTHROPIC_", "GOOGLE_", "GEMINI_", "OLLAMA_")) or name.lower().endswith("_proxy"):
        del os.environ[name]

import anthropic
import ollama
import openai
from google import genai
from google.genai import types

HERE = Path(__file__).parent
KEY = "key-of-the-recorder"
SYSTEM = "You explain jokes."
USER = "为什么静音键这么响？"
MESSAGES = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": USER}]
SCHEMA = {
    "type": "object",
    "properties": {"explanation": {"type": "string"}},
    "required": ["explanation"],
    "additionalProperties": False,
}
FORMAT = {"type": "json_schema", "json_schema": {"name": "answer", "schema": SCHEMA, "strict": True}}
# Of the client or of the connection, not of the request.
LEFT_OUT = ("host", "content-length", "connection", "accept-encoding", "user-agent", "x-goog-api-client")

seen = []


class Recorder(BaseHTTPRequestHandler):
    def take(self):
        length = int(self.headers.get("content-length") or 0)
        body = self.rfile.read(length)
        headers = {
            name.lower(): value
            for name, value in self.headers.items()
            if name.lower() not in LEFT_OUT and not name.lower().startswith("x-stainless")
        }
        seen.append(
            {
                "method": self.command,
                "path": self.path,
                "headers": dict(sorted(headers.items())),
                "body": json.loads(body) if body else None,
            }
        )
        answer = b'{"error": {"message": "recorded", "type": "recorded"}}'
        self.send_response(400)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    do_GET = do_POST = take

    def log_message(self, *_):
        pass


def one(ask):
    """What goes out for one call; the recorder's refusal is expected, anything before it is not."""
    seen.clear()
    try:
        for _ in ask() or ():
            break
    except Exception as error:
        if len(seen) != 1:
            raise SystemExit(f"nothing, or too much, was sent: {len(seen)} requests, {error!r}") from error
    [request] = seen
    return request


def chats(client, **more):
    create = client.chat.completions.create
    return {
        "plain": one(lambda: create(model="m-1", messages=MESSAGES, max_tokens=400, temperature=0.7, **more)),
        "reasoning": one(
            lambda: create(model="m-1", messages=MESSAGES, max_completion_tokens=400, reasoning_effort="low", **more)
        ),
        "structured": one(
            lambda: create(model="m-1", messages=MESSAGES, max_tokens=400, response_format=FORMAT, **more)
        ),
        "streamed": one(
            lambda: create(
                model="m-1",
                messages=MESSAGES,
                max_tokens=400,
                stream=True,
                stream_options={"include_usage": True},
                **more,
            )
        ),
        "embedding": one(
            lambda: client.embeddings.create(model="e-1", input=USER, encoding_format="float", dimensions=256)
        ),
        "models": one(lambda: client.models.list()),
    }


def vllm(client):
    create = client.chat.completions.create
    guided = {"structured_outputs": {"json": SCHEMA}}
    return chats(client) | {
        "structured": one(lambda: create(model="m-1", messages=MESSAGES, max_tokens=400, extra_body=guided)),
    }


def claude(client):
    asked = {"model": "m-1", "system": SYSTEM, "messages": MESSAGES[1:], "max_tokens": 400}
    tool = {"name": "answer", "description": "The answer.", "input_schema": SCHEMA}
    choice = {"type": "tool", "name": "answer"}
    create = client.messages.create
    return {
        "plain": one(lambda: create(**asked, extra_body={"temperature": 0.7})),
        "reasoning": one(lambda: create(**asked | {"max_tokens": 4000}, thinking={"type": "enabled", "budget_tokens": 1024})),
        "structured": one(lambda: create(**asked, tools=[tool], tool_choice=choice)),
        "streamed": one(lambda: create(**asked, stream=True)),
        "models": one(lambda: client.models.list()),
    }


def gemini(client):
    def config(**more):
        return types.GenerateContentConfig(system_instruction=SYSTEM, max_output_tokens=400, **more)

    ask = client.models.generate_content
    stream = client.models.generate_content_stream
    return {
        "plain": one(lambda: ask(model="m-1", contents=USER, config=config(temperature=0.7))),
        "reasoning": one(
            lambda: ask(model="m-1", contents=USER, config=config(thinking_config=types.ThinkingConfig(thinking_budget=1024)))
        ),
        "structured": one(
            lambda: ask(
                model="m-1",
                contents=USER,
                config=config(response_mime_type="application/json", response_json_schema=SCHEMA),
            )
        ),
        "streamed": one(lambda: stream(model="m-1", contents=USER, config=config())),
        "embedding": one(
            lambda: client.models.embed_content(
                model="e-1", contents=[USER], config=types.EmbedContentConfig(output_dimensionality=256)
            )
        ),
        "models": one(lambda: client.models.list()),
    }


def llama(client):
    asked = {"model": "m-1", "messages": MESSAGES}
    return {
        "plain": one(lambda: client.chat(**asked, options={"num_predict": 400, "temperature": 0.7})),
        "reasoning": one(lambda: client.chat(**asked, options={"num_predict": 400}, think=True)),
        "structured": one(lambda: client.chat(**asked, options={"num_predict": 400}, format=SCHEMA)),
        "streamed": one(lambda: client.chat(**asked, options={"num_predict": 400}, stream=True)),
        "embedding": one(lambda: client.embed(model="e-1", input=USER, dimensions=256)),
        "models": one(lambda: client.list()),
    }


def main():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Recorder)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    here = f"http://127.0.0.1:{server.server_port}"
    openai_client = openai.OpenAI(base_url=f"{here}/v1", api_key=KEY, max_retries=0)
    azure_client = openai.AzureOpenAI(azure_endpoint=here, api_version="2024-10-21", api_key=KEY, max_retries=0)
    recorded = {
        "openai": chats(openai_client),
        "azure": chats(azure_client),
        "vllm": vllm(openai_client),
        "anthropic": claude(anthropic.Anthropic(base_url=here, api_key=KEY, max_retries=0)),
        "gemini": gemini(genai.Client(api_key=KEY, http_options=types.HttpOptions(base_url=here))),
        "ollama": llama(ollama.Client(host=here)),
    }
    for provider, requests in recorded.items():
        text = json.dumps(requests, ensure_ascii=False, indent=2, sort_keys=True)
        (HERE / f"{provider}.json").write_text(text + "\n", encoding="utf-8")


main()
