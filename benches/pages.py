"""Parsing over WARC against BeautifulSoup with lxml, on the same pages in one run.

    pip install warcio beautifulsoup4 lxml
    cargo bench --no-default-features --bench pages --no-run     # prints the program's path
    python benches/pages.py --program target/release/deps/pages-…  [--pages 300]

Both sides read the same archive from disk and take the same fields of each post: thread, post,
floor, author, time, replies, text with line breaks, pictures. Their rows must agree.
"""

import argparse
import html
import io
import json
import os
import subprocess
import sys
import tempfile
import time

from bs4 import BeautifulSoup
from warcio.archiveiterator import ArchiveIterator
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

FIXTURE = os.path.join(os.path.dirname(__file__), "..", "tests", "fixtures", "pages", "thread-p1.html")
POSTS = 30


def make_page(template, tid, page):
    """A thread's page of 30 posts in the markup of the fixture."""
    head, rest = template.split('<div class="l_post', 1)
    post, rest = ('<div class="l_post' + rest).split('<div class="l_post l_post_bright j_l_post clearfix ad_bottom', 1)
    tail = rest[rest.index("\n</div>\n<div class=\"p_thread"):]
    posts = []
    for n in range(POSTS):
        pid = tid * 1000 + page * POSTS + n
        text = "<br>".join(f"第{n}楼第{k}行：{'想不明白的事情又多了一件' * (1 + (n + k) % 5)}" for k in range(1 + n % 4))
        one = post.replace("1490001", str(pid)).replace("7700000001", str(tid))
        one = one.replace("&quot;post_no&quot;: 1,", f"&quot;post_no&quot;: {page * POSTS + n + 1},")
        start = one.index("它每天")
        posts.append(one[:start] + text + one[one.index("</div>", start):])
    return head.replace("7700000001", str(tid)) + "".join(posts) + tail


def make_archive(path, count):
    template = open(FIXTURE, encoding="utf-8").read()
    total = 0
    with open(path, "wb") as out:
        writer = WARCWriter(out, gzip=True)
        for n in range(count):
            tid, page = 9_000_000_000 + n // 3, n % 3
            body = make_page(template, tid, page).encode()
            total += len(body)
            head = StatusAndHeaders("200 OK", [("Content-Type", "text/html; charset=utf-8")], protocol="HTTP/1.1")
            url = f"https://tieba.baidu.com/p/{tid}" + (f"?pn={page + 1}" if page else "")
            writer.write_record(writer.create_warc_record(url, "response", payload=io.BytesIO(body), http_headers=head))
    return total


def soup_posts(path):
    pages, posts = 0, {}
    with open(path, "rb") as stream:
        for record in ArchiveIterator(stream):
            if record.rec_type != "response":
                continue
            pages += 1
            soup = BeautifulSoup(record.content_stream().read(), "lxml")
            for post in soup.select("div.l_post"):
                data = json.loads(post.get("data-field") or "{}")
                if "content" not in data:
                    continue
                content, author = data["content"], data["author"]
                body = post.select_one(".d_post_content")
                for br in body.find_all("br"):
                    br.replace_with("\n")
                tail = [span.get_text() for span in post.select("span.tail-info")]
                posts[content["post_id"]] = {
                    "tid": content["thread_id"],
                    "floor": content["post_no"],
                    "author": author["user_name"],
                    "time": next((t for t in tail if t[:4].isdigit()), None),
                    "replies": content["comment_num"],
                    "text": body.get_text().strip(),
                    "images": [img["src"] for img in body.select("img.BDE_Image")],
                }
    return pages, posts


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--pages", type=int, default=300)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "threads.warc.gz")
        size = make_archive(path, args.pages)
        print(f"{args.pages} pages, {args.pages * POSTS} posts, {size / 1e6:.1f} MB of HTML")

        started = time.perf_counter()
        pages, posts = soup_posts(path)
        soup = time.perf_counter() - started
        chars = sum(len(post["text"]) for post in posts.values())
        print(f"BeautifulSoup with lxml  {soup:8.3f} s  {size / 1e6 / soup:7.2f} MB/s")

        failed = False
        for threads in ("1", str(os.cpu_count())):
            env = dict(os.environ, RAYON_NUM_THREADS=threads)
            runs = [json.loads(subprocess.run([args.program, path], env=env, check=True, capture_output=True).stdout) for _ in range(3)]
            best = min(runs, key=lambda run: run["secs"])
            print(f"riddlemill, {threads} thread(s)  {best['secs']:8.3f} s  {size / 1e6 / best['secs']:7.2f} MB/s  {soup / best['secs']:6.1f} times")
            if (best["pages"], best["posts"], best["chars"]) != (pages, len(posts), chars):
                print(f"the rows differ: {best} against {pages} pages, {len(posts)} posts, {chars} characters")
                failed = True
    sys.exit(failed)


if __name__ == "__main__":
    main()
