"""Makes images, and times the steps of OpenManus' validator on them.

    pillow.py make FOLDER           noise.png.b64 and noise.jpeg.b64, each just under 10 MiB before base64
    pillow.py time FOLDER ROUNDS    for each: name, bytes of the file, best milliseconds

The time is the processor's, not the wall's: on a busy machine that is kinder to Python, which takes so long that
it is interrupted in every round. The validator is written from the description of its steps.
"""
import base64
import io
import os
import pathlib
import re
import sys
import time

from PIL import Image

LIMIT = 10 * 1024 * 1024


def noise(format_name, side, **options):
    image = Image.frombytes("RGB", (side, side), os.urandom(3 * side * side))
    out = io.BytesIO()
    image.save(out, format_name, **options)
    return out.getvalue()


def largest(format_name, side, **options):
    """The largest of some images of noise that is under the limit."""
    while len(data := noise(format_name, side, **options)) > LIMIT:
        side -= 4
    return data


def validate(text, max_size_mb=10):
    if not text or len(text) < 10:
        return False, "Base64 string is empty or too short"
    if text.startswith("data:"):
        parts = text.split(",", 1)
        if len(parts) < 2:
            return False, "Invalid data URL format"
        text = parts[1]
    if not re.match(r"^[A-Za-z0-9+/]*={0,2}$", text):
        return False, "Invalid base64 characters detected"
    if len(text) % 4 != 0:
        return False, "Invalid base64 string length"
    data = base64.b64decode(text, validate=True)
    if len(data) > max_size_mb * 1024 * 1024:
        return False, "Image size exceeds limit"
    with Image.open(io.BytesIO(data)) as image:
        image.verify()
        if image.format not in {"JPEG", "PNG", "GIF", "BMP", "WEBP", "TIFF"}:
            return False, "Unsupported image format"
    with Image.open(io.BytesIO(data)) as image:
        width, height = image.size
        if width > 8192 or height > 8192 or width < 1 or height < 1:
            return False, "Image dimensions exceed limit"
    return True, "Valid image"


def main():
    folder = pathlib.Path(sys.argv[2])
    if sys.argv[1] == "make":
        (folder / "noise.png.b64").write_bytes(base64.b64encode(largest("PNG", 1868)))
        (folder / "noise.jpeg.b64").write_bytes(base64.b64encode(largest("JPEG", 2996, quality=95)))
        return
    for path in sorted(folder.glob("*.b64")):
        text = path.read_text()
        times = []
        for _ in range(int(sys.argv[3])):
            start = time.thread_time()
            verdict = validate(text)
            times.append(time.thread_time() - start)
            if verdict != (True, "Valid image"):
                sys.exit(f"{path.name}: {verdict}")
        print(path.name, len(text) * 3 // 4, 1000 * min(times))


main()
