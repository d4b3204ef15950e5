"""The judge of images.sh: makes images, damages them, and asks Pillow and Parley about each.

  images.py PARLEY FOLDER MUTANTS SEED

A mutant has some bytes changed, is cut off, or has a piece doubled, removed or put on; half of the changed bytes
are in the first 200, where headers are. Half of the mutants of PNG get their checksums put right again, because
no other damage is seen behind a wrong one.
"""
import io
import json
import pathlib
import random
import struct
import subprocess
import sys
import warnings
import zlib

from PIL import Image, PngImagePlugin

from mutants import mutant

FORMATS = ("PNG", "JPEG", "GIF", "BMP", "WEBP", "TIFF")
MAX_BYTES = 10 * 1024 * 1024
MAX_SIDE = 8192
MAX_REFUSED = 0.005

warnings.simplefilter("ignore")


# ---- Good images


def picture(rng, mode, size):
    bands = len(Image.new(mode, (1, 1)).getbands())
    if mode in ("1", "I;16", "I", "F"):
        image = Image.new("L", size)
        image.putdata([rng.randrange(256) if rng.random() < 0.2 else x % 256 for x in range(size[0] * size[1])])
        return image.convert("I").convert(mode) if mode == "I;16" else image.convert(mode)
    data = bytes(rng.randrange(256) if rng.random() < 0.3 else (i * 7) % 256 for i in range(size[0] * size[1] * bands))
    image = Image.frombytes(mode, size, data)
    if mode == "P":
        image.putpalette([rng.randrange(256) for _ in range(768)])
    return image


def sizes(rng):
    return rng.choice([(1, 1), (3, 5), (16, 16), (33, 17), (64, 48), (100, 1), (1, 100)])


def saved(image, format, **options):
    out = io.BytesIO()
    image.save(out, format, **options)
    return out.getvalue()


def png(rng):
    mode = rng.choice(["1", "L", "LA", "P", "RGB", "RGBA", "I;16"])
    image = picture(rng, mode, sizes(rng))
    options = {}
    if rng.random() < 0.5:
        info = PngImagePlugin.PngInfo()
        info.add_text("Title", "a picture", zip=rng.random() < 0.5)
        info.add_itxt("Author", "J\u00f6rg", "de", "Autor", zip=rng.random() < 0.5)
        options["pnginfo"] = info
    if rng.random() < 0.3:
        options["dpi"] = (72, 72)
    if rng.random() < 0.3:
        options["icc_profile"] = bytes(200)
    if mode in ("L", "RGB", "P") and rng.random() < 0.3:
        options["transparency"] = (1, 2, 3) if mode == "RGB" else 1
    if mode == "RGB" and rng.random() < 0.2:
        return saved(image, "PNG", save_all=True, append_images=[picture(rng, mode, image.size)])
    if mode in ("L", "RGB", "RGBA") and rng.random() < 0.3:
        return interlaced(image)
    return saved(image, "PNG", **options)


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def interlaced(image):
    width, height = image.size
    pixels = image.load()
    bands = len(image.getbands())
    raw = b""
    for x0, y0, dx, dy in ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)):
        if x0 >= width:
            continue
        for y in range(y0, height, dy):
            row = [pixels[x, y] for x in range(x0, width, dx)]
            raw += b"\0" + (bytes(row) if bands == 1 else b"".join(map(bytes, row)))
    header = struct.pack(">IIBBBBB", width, height, 8, {1: 0, 3: 2, 4: 6}[bands], 0, 0, 1)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", b"") + chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b"")


def jpeg(rng):
    image = picture(rng, rng.choice(["L", "RGB", "RGB", "CMYK"]), sizes(rng))
    options = {"quality": rng.choice([10, 75, 95]), "progressive": rng.random() < 0.3}
    if rng.random() < 0.3:
        options["dpi"] = (300, 300)
    if rng.random() < 0.3:
        exif = Image.Exif()
        exif[0x11A], exif[0x128], exif[0x10E] = 72.0, 2, "a picture"
        options["exif"] = exif
    if rng.random() < 0.2:
        options["icc_profile"] = bytes(100)
    if rng.random() < 0.2:
        options["restart_marker_blocks"] = 1
    if image.mode == "RGB" and rng.random() < 0.1:
        return saved(image, "MPO", save_all=True, append_images=[image])
    return saved(image, "JPEG", **options)


def gif(rng):
    image = picture(rng, rng.choice(["P", "L", "1"]), sizes(rng))
    options = {"interlace": rng.random() < 0.3}
    if rng.random() < 0.3:
        options["transparency"] = 1
    if rng.random() < 0.3:
        options["comment"] = b"a picture"
    if rng.random() < 0.3:
        options.update(save_all=True, append_images=[picture(rng, image.mode, image.size)], loop=0, duration=100)
    return saved(image, "GIF", **options)


def bmp(rng):
    kind = rng.random()
    if kind < 0.5:
        return saved(picture(rng, rng.choice(["1", "L", "P", "RGB", "RGBA"]), sizes(rng)), "BMP")
    width, height = sizes(rng)
    if kind < 0.75:  # compressed
        four = rng.random() < 0.5
        colours = 16 if four else 256
        data = b""
        for _ in range(height):
            x = 0
            while x < width:
                run = min(width - x, rng.randrange(1, 255))
                if run >= 4 and run % 4 == 0 and rng.random() < 0.5:
                    data += bytes([0, run]) + rng.randbytes(run // 2 if four else run)
                else:
                    data += bytes([run, rng.randrange(256)])
                x += run
            data += b"\0\0"
        data += b"\0\1"
        header = struct.pack("<IiiHHIIiiII", 40, width, height, 1, 4 if four else 8, 2 if four else 1, len(data), 0, 0, colours, 0)
        palette = rng.randbytes(4 * colours)
    else:  # masks, OS/2, upside down
        bits = rng.choice([16, 24, 32])
        stride = (width * bits + 31) // 32 * 4
        data = rng.randbytes(stride * height)
        palette = b""
        if kind < 0.85:
            header = struct.pack("<IHHHH", 12, width, height, 1, bits)
        else:
            masks = {16: (0xF800, 0x7E0, 0x1F), 24: (0xFF0000, 0xFF00, 0xFF), 32: (0xFF0000, 0xFF00, 0xFF)}[bits]
            header = struct.pack("<IiiHHIIiiII", 40, width, -height, 1, bits, 3, len(data), 0, 0, 0, 0) + struct.pack("<III", *masks)
    offset = 14 + len(header) + len(palette)
    return b"BM" + struct.pack("<IHHI", offset + len(data), 0, 0, offset) + header + palette + data


def webp(rng):
    image = picture(rng, rng.choice(["RGB", "RGBA"]), sizes(rng))
    options = {"lossless": rng.random() < 0.4, "quality": rng.choice([10, 80])}
    if rng.random() < 0.3:
        options["icc_profile"] = bytes(64)
    if rng.random() < 0.3:
        options["exif"] = b"Exif\0\0II*\0\x08\0\0\0\0\0\0\0\0\0"
    if rng.random() < 0.3:
        options.update(save_all=True, append_images=[picture(rng, image.mode, image.size)])
    return saved(image, "WEBP", **options)


def tiff(rng):
    mode = rng.choice(["1", "L", "P", "RGB", "RGBA", "CMYK", "I;16", "LA", "F", "I", "LAB", "YCbCr"])
    compressions = [None, None, None, "packbits", "tiff_lzw", "tiff_adobe_deflate"]
    if mode == "1":
        compressions += ["group3", "group4", "tiff_ccitt"]
    if mode in ("L", "RGB", "YCbCr"):
        compressions += ["jpeg"]
    options = {"compression": rng.choice(compressions)}
    if mode == "YCbCr":
        options["compression"] = "jpeg"
    if rng.random() < 0.3:
        options["dpi"] = (72, 72)
    if rng.random() < 0.2:
        options["tiffinfo"] = {274: rng.randrange(1, 9), 270: "a picture"}
    if rng.random() < 0.2 and options["compression"] is None:
        options["big_tiff"] = True
    return saved(picture(rng, mode, sizes(rng)), "TIFF", **options)


# ---- Mutants


def repair_sums(data):
    out, at = data[:8], 8
    while at + 12 <= len(data):
        length = struct.unpack_from(">I", data, at)[0]
        if at + 12 + length > len(data):
            break
        out += chunk(data[at + 4 : at + 8], data[at + 8 : at + 8 + length])
        at += 12 + length
    return out + data[at:]


def make(folder, format, count, rng):
    maker = {"PNG": png, "JPEG": jpeg, "GIF": gif, "BMP": bmp, "WEBP": webp, "TIFF": tiff}[format]
    good = [maker(rng) for _ in range(max(10, count // 10))]
    for i, data in enumerate(good):
        (folder / f"{format.lower()}-good-{i:04}").write_bytes(data)
    for i in range(count):
        data = mutant(rng, rng.choice(good), good, head=200, in_head=0.5, kinds=(0.6, 0.75, 0.85, 0.93, 0.97))
        if format == "PNG" and rng.random() < 0.5:
            data = repair_sums(data)
        (folder / f"{format.lower()}-{i:04}").write_bytes(data)


# ---- Verdicts


def opens(data):
    """What OpenManus' validator asks of Pillow, and the size."""
    try:
        image = Image.open(io.BytesIO(data))
        size, format = image.size, image.format
        image.verify()
    except Exception as error:
        return None, f"{type(error).__name__}: {error}"
    if format not in FORMATS:
        return None, f"format {format}"
    if max(size) > MAX_SIDE or len(data) > MAX_BYTES:
        return None, "too large"
    return (format, *size), ""


def loads(data):
    try:
        Image.open(io.BytesIO(data)).load()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def asked(parley, level, paths):
    command = [parley, "media", "check", "--json", "--level", level, *paths]
    result = subprocess.run(command, capture_output=True)
    if result.returncode not in (0, 1):
        sys.exit(f"{level}: exit {result.returncode}: {result.stderr.decode()[:2000]}")
    return [json.loads(line) for line in result.stdout.splitlines()]


def compare(parley, folder, format):
    paths = sorted(folder.glob(f"{format.lower()}-*"))
    headers, decoded = asked(parley, "header", paths), asked(parley, "decode", paths)
    wrong = missed = refused = loaded = accepted = 0
    for path, header, decode in zip(paths, headers, decoded, strict=True):
        data = path.read_bytes()
        want, why = opens(data)
        got = (header["format"], header["width"], header["height"]) if header["valid"] else None
        if got != want:
            wrong += 1
            print(f"{path.name}: header: Pillow {want or why}, Parley {got or header['sentence']}")
        if want is None:
            if decode["valid"]:
                missed += 1
                print(f"{path.name}: decode: accepts what header refuses")
            continue
        accepted += 1
        problem = loads(data)
        if problem and decode["valid"]:
            missed += 1
            print(f"{path.name}: decode: accepted, Pillow: {problem}")
        if not problem:
            loaded += 1
            if not decode["valid"]:
                refused += 1
                print(f"{path.name}: decode: Pillow loads it, Parley: {decode['sentence']}")
    print(f"{format}: {len(paths)} files, {accepted} accepted by open and verify, {loaded} of them by load;",
          f"header differs {wrong}, decode misses {missed}, refuses {refused}")
    return wrong == 0 and missed == 0 and refused <= MAX_REFUSED * loaded


def bomb(parley, folder):
    """An image within all limits that unpacks to 201 MB has to pass in 16 MiB and a row."""
    row = 1 + 3 * MAX_SIDE
    pack = zlib.compressobj(9)
    data = b"".join(pack.compress(bytes(row)) for _ in range(MAX_SIDE)) + pack.flush()
    header = struct.pack(">IIBBBBB", MAX_SIDE, MAX_SIDE, 8, 2, 0, 0, 0)
    path = folder / "bomb"
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b""))
    # By way of a small process, because a child's memory counts from before it becomes another program.
    measure = ("import resource, subprocess, sys; status = subprocess.run(sys.argv[1:], stdout=sys.stderr).returncode;"
               "print(status, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)")
    command = [sys.executable, "-I", "-S", "-c", measure, parley, "media", "check", path]
    status, used = map(int, subprocess.run(command, capture_output=True, check=True).stdout.split())
    print(f"bomb: {path.stat().st_size} bytes, exit {status}, in {used} bytes of memory")
    return status == 0 and used <= (16 << 20) + row


def main(parley, folder, count, seed):
    folder = pathlib.Path(folder)
    print(f"Pillow {Image.__version__}, seed {seed}")
    good = bomb(parley, folder)
    for format in FORMATS:
        make(folder, format, int(count), random.Random(f"{seed} {format}"))
        good = compare(parley, folder, format) and good
    return 0 if good else 1


sys.exit(main(*sys.argv[1:]))
