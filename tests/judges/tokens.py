"""The judge of tokens.sh: what PyPI's tiktoken makes of the corpus, with the vocabularies of this tree.

  tokens.py compare PARLEY FOLDER          FOLDER/*.txt with both, every id
  tokens.py golden FOLDER SEED BYTES       the lines of tests/token/golden.txt
  tokens.py time FOLDER                    MB/s of tiktoken on FOLDER/*.txt, best of five

It knows the tables' format but uses none of Parley's code, and tiktoken downloads nothing.
"""
import base64
import hashlib
import pathlib
import struct
import subprocess
import sys
import time

import tiktoken
import tiktoken_ext.openai_public as published

DATA = pathlib.Path(__file__).resolve().parents[2] / "src/token/data"
NAMES = ("cl100k_base", "o200k_base")


def ranks(name, expected_hash):
    planes = subprocess.run(["zstd", "-dcq", DATA / f"{name}.zst"], capture_output=True, check=True).stdout
    count = len(planes) // 6
    parts = [planes[i * count : (i + 1) * count] for i in range(6)]
    tokens = []
    for i in range(count):
        left, right = (parts[k][i] << 16 | parts[k + 1][i] << 8 | parts[k + 2][i] for k in (0, 3))
        tokens.append(tokens[left - 1] + tokens[right - 1] if left else bytes([right]))
    rank_file = b"".join(b"%s %d\n" % (base64.b64encode(token), i) for i, token in enumerate(tokens))
    if hashlib.sha256(rank_file).hexdigest() != expected_hash:
        sys.exit(f"{name}: the tables are not the published ones")
    return {token: i for i, token in enumerate(tokens)}


def encodings():
    # tiktoken's own constructors, patterns included, with our ranks in place of a download.
    published.load_tiktoken_bpe = lambda place, expected_hash=None: ranks(
        place.rsplit("/", 1)[1].removesuffix(".tiktoken"), expected_hash)
    return [tiktoken.Encoding(**getattr(published, name)()) for name in NAMES]


def texts(folder):
    for path in sorted(pathlib.Path(folder).glob("*.txt")):
        yield path, path.read_bytes().decode()


def compare(parley, folder):
    failed = total = 0
    for path, text in texts(folder):
        for encoding in encodings_once:
            want = encoding.encode_ordinary(text)
            command = [parley, "tokens", "--encoding", encoding.name]
            count = subprocess.run([*command, path], capture_output=True, check=True).stdout
            got = subprocess.run([*command, "--ids", path], capture_output=True, check=True).stdout
            total += len(path.read_bytes())
            if count != b"%d\n" % len(want):
                failed += 1
                print(f"{path.name}, {encoding.name}: counted {count.decode().strip()}, not {len(want)}")
            if got != " ".join(map(str, want)).encode() + b"\n":
                failed += 1
                ids = list(map(int, got.split()))
                at = next((i for i, (a, b) in enumerate(zip(ids, want)) if a != b), min(len(ids), len(want)))
                print(f"{path.name}, {encoding.name}: id {at} differs,",
                      f"behind {encoding.decode_bytes(want[max(0, at - 8):at])!r}")
    print(f"tiktoken {tiktoken.__version__}: {total} bytes compared, {failed} differences")
    return 1 if failed else 0


def golden(folder, seed, size):
    import xxhash

    print(f"# Made by tests/judges/tokens.sh --golden with tiktoken {tiktoken.__version__}:")
    print("# section, seed, bytes, encoding, count, XXH3 of the ids as four bytes each")
    for path, text in texts(folder):
        for encoding in encodings_once:
            ids = encoding.encode_ordinary(text)
            digest = xxhash.xxh3_64_hexdigest(struct.pack(f"<{len(ids)}I", *ids))
            print(path.stem, seed, size, encoding.name, len(ids), digest)
    return 0


def measure(folder):
    for path, text in texts(folder):
        for encoding in encodings_once:
            times = []
            for _ in range(5):
                start = time.perf_counter()
                ids = encoding.encode_ordinary(text)
                times.append(time.perf_counter() - start)
            print(path.stem, encoding.name, len(ids), f"{len(path.read_bytes()) / min(times) / 1e6:.2f}")
    return 0


encodings_once = encodings()
sys.exit({"compare": compare, "golden": golden, "time": measure}[sys.argv[1]](*sys.argv[2:]))
