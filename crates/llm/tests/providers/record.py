"""What the official packages send for the same requests, one file a provider: path, headers, body.

    python -m venv VENV && VENV/bin/pip install -r crates/llm/tests/providers/requirements.txt
    VENV/bin/python crates/llm/tests/providers/record.py

Each client is pointed at a recorder on 127.0.0.1, which answers nothing of use: what it was sent is all that matters.
Headers that say which machine, package or version sent them are left out.
"""

import json
import os
import re
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

# The clients read these, and would send other things with them.
for name in list(os.environ):
    if name.startswith(("OPENAI_", "AZURE_", "ANTHROPIC_", "GOOGLE_", "GEMINI_", "OLLAMA_")) or name.lower().endswith("_proxy"):
        del os.environ[name]

import anthropic
import libretranslatepy
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

# What a batch holds: two requests, of which the second has another key.
KEYS = ("k-1", "k-2")
NAME = "1-2-0"
ENDED = {
    "id": "b-1",
    "type": "message_batch",
    "processing_status": "ended",
    "created_at": "2026-01-01T00:00:00Z",
    "expires_at": "2026-01-02T00:00:00Z",
    "request_counts": {"processing": 0, "succeeded": 2, "errored": 0, "canceled": 0, "expired": 0},
}

seen = []


def read(kind, body):
    """A body as JSON; of a form its fields, of one in parts each part with its head. What parts it differs from run to run."""
    if not body:
        return None
    if kind.startswith("multipart/form-data"):
        boundary = kind.split("boundary=")[1]
        parts = body.decode().split(f"--{boundary}")[1:-1]
        heads = [part.strip("\r\n").split("\r\n\r\n", 1) for part in parts]
        return [{"head": re.sub(r"(?m)^[A-Za-z-]+:", lambda name: name[0].lower(), head), "text": text} for head, text in heads]
    if kind.startswith("application/x-www-form-urlencoded"):
        return dict(urllib.parse.parse_qsl(body.decode(), strict_parsing=True))
    return json.loads(body)


class Recorder(BaseHTTPRequestHandler):
    def take(self):
        length = int(self.headers.get("content-length") or 0)
        body = self.rfile.read(length)
        headers = {
            name.lower(): value
            for name, value in self.headers.items()
            if name.lower() not in LEFT_OUT and not name.lower().startswith("x-stainless")
        }
        kind = headers.get("content-type", "")
        said = read(kind, body)
        if kind.startswith("multipart/form-data"):
            headers["content-type"] = "multipart/form-data"
        address, _, query = self.path.partition("?")
        path = "?".join([address, *(["&".join(sorted(query.split("&")))] if query else [])])
        seen.append(
            {"method": self.command, "path": path, "headers": dict(sorted(headers.items())), "body": said}
        )
        answer = b'{"error": {"message": "recorded", "type": "recorded"}}'
        ended = self.command == "GET" and re.fullmatch("/v1/messages/batches/b-1", address)
        if ended:
            # Its package asks how far a batch is before it asks for its answers.
            here = f"http://{self.headers['host']}"
            answer = json.dumps(ENDED | {"results_url": f"{here}{address}/results"}).encode()
        self.send_response(200 if ended else 400)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    do_GET = do_POST = take

    def log_message(self, *_):
        pass


def one(ask, before=0):
    """What goes out for one call; the recorder's refusal is expected, anything before it is not, but for so many requests."""
    seen.clear()
    try:
        for _ in ask() or ():
            break
    except Exception as error:
        if len(seen) != 1 + before:
            raise SystemExit(f"nothing, or too much, was sent: {len(seen)} requests, {error!r}") from error
    [*_, request] = seen
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


def responses(client):
    asked = {"model": "m-1", "input": MESSAGES, "max_output_tokens": 400, "store": False}
    create = client.responses.create
    named = FORMAT["json_schema"]
    return {
        "plain": one(lambda: create(**asked, temperature=0.7)),
        "reasoning": one(lambda: create(**asked, reasoning={"effort": "low"})),
        "structured": one(lambda: create(**asked, text={"format": {"type": "json_schema", **named}})),
        "streamed": one(lambda: create(**asked, stream=True)),
    }


CHAT = {"model": "m-1", "messages": MESSAGES, "max_tokens": 400, "temperature": 0.7}
RESPONSE = {"model": "m-1", "input": MESSAGES, "max_output_tokens": 400, "temperature": 0.7, "store": False}


def openai_batches(client, url, body=CHAT):
    """A batch of files: they hold what goes out for each request when it is sent alone."""
    lines = [json.dumps({"custom_id": key, "method": "POST", "url": url, "body": body}) + "\n" for key in KEYS]
    file = ("batch.jsonl", "".join(lines).encode(), "application/jsonl")
    about = {"endpoint": url, "completion_window": "24h", "metadata": {"riddlemill": NAME}}
    batches = client.batches
    return {
        "batch_upload": one(lambda: client.files.create(file=file, purpose="batch")),
        "batch_create": one(lambda: batches.create(input_file_id="f-1", **about)),
        "batch_state": one(lambda: batches.retrieve("b-1")),
        "batch_list": one(lambda: batches.list(limit=100)),
        "batch_list_on": one(lambda: batches.list(limit=100, after="b-0")),
        "batch_answers": one(lambda: client.files.content("f-2")),
        "batch_cancel": one(lambda: batches.cancel("b-1")),
    }


def claude(client):
    asked = {"model": "m-1", "system": SYSTEM, "messages": MESSAGES[1:], "max_tokens": 400}
    enforced = {"format": {"type": "json_schema", "schema": SCHEMA}}
    create = client.messages.create
    return {
        "plain": one(lambda: create(**asked)),
        "reasoning": one(lambda: create(**asked | {"max_tokens": 4000}, thinking={"type": "enabled", "budget_tokens": 1024})),
        "structured": one(lambda: create(**asked, output_config=enforced)),
        "streamed": one(lambda: create(**asked, stream=True)),
        "models": one(lambda: client.models.list()),
    } | claude_batches(client.messages.batches, asked)


def claude_batches(batches, asked):
    requests = [{"custom_id": key, "params": asked} for key in KEYS]
    return {
        "batch_create": one(lambda: batches.create(requests=requests)),
        "batch_state": one(lambda: [batches.retrieve("b-1")]),
        "batch_list": one(lambda: batches.list(limit=100)),
        "batch_list_on": one(lambda: batches.list(limit=100, after_id="b-0")),
        "batch_answers": one(lambda: batches.results("b-1"), before=1),
        "batch_cancel": one(lambda: batches.cancel("b-1")),
    }


def gemini_batches(batches, config):
    contents = [types.Content(role="user", parts=[types.Part(text=USER)])]
    requests = [types.InlinedRequest(contents=contents, config=config, metadata={"key": key}) for key in KEYS]

    def pages(**more):
        return batches.list(config=types.ListBatchJobsConfig(page_size=100, **more))

    return {
        "batch_create": one(
            lambda: batches.create(model="m-1", src=requests, config=types.CreateBatchJobConfig(display_name=NAME))
        ),
        "batch_state": one(lambda: batches.get(name="batches/b-1")),
        "batch_list": one(pages),
        "batch_list_on": one(lambda: pages(page_token="b-0")),
        "batch_cancel": one(lambda: batches.cancel(name="batches/b-1")),
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
        "batch_answers": one(lambda: client.files.download(file="files/f-2")),
    } | gemini_batches(client.batches, config(temperature=0.7))


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


def libre(client):
    """Its package sends a form; the server takes JSON with the same fields as well, which its own page shows."""
    return {"translation": one(lambda: client.translate(USER, "zh", "en"))}


def main():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Recorder)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    here = f"http://127.0.0.1:{server.server_port}"
    openai_client = openai.OpenAI(base_url=f"{here}/v1", api_key=KEY, max_retries=0)
    azure_client = openai.AzureOpenAI(azure_endpoint=here, api_version="2024-10-21", api_key=KEY, max_retries=0)
    azure_v1_client = openai.OpenAI(base_url=f"{here}/openai/v1/", api_key=KEY, max_retries=0)
    # What proxies serve, too; the package's own default is v1.
    gemini_options = types.HttpOptions(base_url=here, api_version="v1beta")
    recorded = {
        "openai": chats(openai_client) | openai_batches(openai_client, "/v1/chat/completions"),
        "azure": chats(azure_client) | openai_batches(azure_client, "/chat/completions"),
        "azure_responses": responses(azure_client),
        "azure_v1": chats(azure_v1_client) | openai_batches(azure_v1_client, "/v1/chat/completions"),
        "responses": responses(openai_client) | openai_batches(openai_client, "/v1/responses", RESPONSE),
        "vllm": chats(openai_client),
        "anthropic": claude(anthropic.Anthropic(base_url=here, api_key=KEY, max_retries=0)),
        "gemini": gemini(genai.Client(api_key=KEY, http_options=gemini_options)),
        "ollama": llama(ollama.Client(host=here)),
        "libretranslate": libre(libretranslatepy.LibreTranslateAPI(here, KEY)),
    }
    for provider, requests in recorded.items():
        text = json.dumps(requests, ensure_ascii=False, indent=2, sort_keys=True)
        (HERE / f"{provider}.json").write_text(text + "\n", encoding="utf-8")


main()
