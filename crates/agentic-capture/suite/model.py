"""A model that says what a test wants, by the interfaces that coding agents speak.

A scenario is a list of steps. A step is a text, or `{"tool": NAME, "input": {…}}`. The number of tool
results and of earlier answers in a request says which step comes next, so that a model which is asked
again after a crash says the same again. Requests without tools (titles, summaries) get a short text.
"""

import http.server
import json
import threading


class Model:
    """Serves one scenario on a port of loopback, until it is closed."""

    def __init__(self, steps):
        self.steps = steps
        self.requests = []
        self.lock = threading.Lock()
        model = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_HEAD(self):
                self.answer(200, "text/plain", b"")

            def do_GET(self):
                self.answer(200, "application/json", b'{"data":[],"models":[]}')

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                try:
                    request = json.loads(body)
                except ValueError:
                    return self.answer(200, "application/json", b"{}")
                with model.lock:
                    model.requests.append((self.path, request))
                path = self.path.split("?")[0]
                for end, speak in SPEAKERS:
                    if path.endswith(end):
                        kind, text = speak(model, request)
                        return self.answer(200, kind, text.encode())
                self.answer(200, "application/json", b"{}")

            def answer(self, status, kind, body):
                self.send_response(status)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(body)

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def address(self):
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def step(self, n_answers):
        """The step that follows after so many answers; at the end the last one again."""
        return self.steps[min(n_answers, len(self.steps) - 1)]

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def events(pairs):
    """Writes server-sent events."""
    return "".join(f"event: {name}\ndata: {json.dumps(data)}\n\n" for name, data in pairs)


def count_tokens(_model, _request):
    return "application/json", '{"input_tokens": 10}'


def anthropic(model, request):
    """`POST /v1/messages` of Anthropic."""
    said = [message for message in request["messages"] if message["role"] == "assistant"]
    step = model.step(len(said)) if request.get("tools") else "A conversation"
    usage = {"input_tokens": 12, "output_tokens": 5}
    if isinstance(step, str):
        block, stop = {"type": "text", "text": step}, "end_turn"
    else:
        name = f"toolu_{len(said):024d}"
        block = {"type": "tool_use", "id": name, "name": step["tool"], "input": step["input"]}
        stop = "tool_use"
    message = {
        "id": f"msg_{len(model.requests):024d}",
        "type": "message",
        "role": "assistant",
        "model": request["model"],
        "content": [block],
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": usage,
    }
    if not request.get("stream"):
        return "application/json", json.dumps(message)
    begun = dict(message, content=[], stop_reason=None)
    if block["type"] == "text":
        empty, delta = dict(block, text=""), {"type": "text_delta", "text": block["text"]}
    else:
        whole = json.dumps(block["input"])
        empty, delta = dict(block, input={}), {"type": "input_json_delta", "partial_json": whole}
    return "text/event-stream", events(
        [
            ("message_start", {"type": "message_start", "message": begun}),
            ("content_block_start", {"type": "content_block_start", "index": 0, "content_block": empty}),
            ("content_block_delta", {"type": "content_block_delta", "index": 0, "delta": delta}),
            ("content_block_stop", {"type": "content_block_stop", "index": 0}),
            (
                "message_delta",
                {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": usage},
            ),
            ("message_stop", {"type": "message_stop"}),
        ]
    )


def openai(model, request):
    """`POST /v1/responses` of OpenAI."""
    said = [
        item
        for item in request["input"]
        if item.get("type") in ("function_call", "custom_tool_call", "local_shell_call")
        or (item.get("type") == "message" and item.get("role") == "assistant")
    ]
    number = len(model.requests)
    step = model.step(len(said)) if request.get("tools") else "A conversation"
    if isinstance(step, str):
        content = [{"type": "output_text", "text": step, "annotations": []}]
        item = {"type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed", "content": content}
    else:
        item = {
            "type": "function_call",
            "id": f"fc_{number}",
            "call_id": f"call_{len(said):024d}",
            "name": step["tool"],
            "arguments": json.dumps(step["input"]),
            "status": "completed",
        }
    usage = {
        "input_tokens": 12,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 5,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 17,
    }
    response = {"id": f"resp_{number}", "object": "response", "status": "completed", "model": request.get("model"), "output": [item], "usage": usage}
    begun = dict(response, status="in_progress", output=[])
    return "text/event-stream", events(
        [
            ("response.created", {"type": "response.created", "response": begun}),
            ("response.output_item.added", {"type": "response.output_item.added", "output_index": 0, "item": item}),
            ("response.output_item.done", {"type": "response.output_item.done", "output_index": 0, "item": item}),
            ("response.completed", {"type": "response.completed", "response": response}),
        ]
    )


def gemini(model, request):
    """`POST /v1beta/models/MODEL:streamGenerateContent` of Google."""
    said = [content for content in request["contents"] if content.get("role") == "model"]
    step = model.step(len(said)) if request.get("tools") else "A conversation"
    if isinstance(step, str):
        part = {"text": step}
    else:
        part = {"functionCall": {"name": step["tool"], "args": step["input"]}}
    answer = {
        "candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 12, "candidatesTokenCount": 5, "totalTokenCount": 17},
        "modelVersion": "gemini-2.5-flash",
    }
    return answer


def gemini_stream(model, request):
    return "text/event-stream", f"data: {json.dumps(gemini(model, request))}\n\n"


def gemini_whole(model, request):
    return "application/json", json.dumps(gemini(model, request))


def gemini_count(_model, _request):
    return "application/json", '{"totalTokens": 12}'


SPEAKERS = [
    (":streamGenerateContent", gemini_stream),
    (":generateContent", gemini_whole),
    (":countTokens", gemini_count),
    ("/messages/count_tokens", count_tokens),
    ("/messages", anthropic),
    ("/responses", openai),
]
