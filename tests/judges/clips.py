"""The judge of clips.sh: makes audio and video with FFmpeg's encoders, damages it, and asks Parley, FFmpeg and
mutagen about each file.

  clips.py PARLEY FOLDER MUTANTS SEED

Good files: Parley has to say what FFmpeg says, of kind, rate, channels, size and duration.
Mutants: Parley has to give a verdict, the same one for base64 (every third is asked), and where it and the judge
both name a rate, a number of channels, a size or a duration, they agree, or the difference has a name (see NAMED). The judge of audio is mutagen,
which reads headers as Parley does; that of containers is FFmpeg, which looks at the sound and the pictures too.
"""
import base64
import collections
import io
import json
import pathlib
import random
import re
import struct
import subprocess
import sys
import tempfile
import wave

import av
import mutagen.aac
import mutagen.flac
import mutagen.mp3
import mutagen.mp4
import mutagen.oggopus
import mutagen.oggvorbis
import mutagen.wave

from mutants import mutant

MAX_UNNAMED = 0.01  # of the mutants that both read

av.logging.set_level(av.logging.PANIC)


# ---- Good files


def sound(rng, out, codec, rate, channels, seconds, **options):
    stream = out.add_stream(codec, rate=rate, options=options)
    stream.layout = "stereo" if channels == 2 else "mono"
    count = int(rate * seconds)
    frame = av.AudioFrame(format="s16", layout=stream.layout.name, samples=count)
    frame.sample_rate = rate
    frame.pts = 0
    size = frame.planes[0].buffer_size
    noise = rng.randbytes(400)
    frame.planes[0].update((noise * (size // len(noise) + 1))[:size])
    return stream, [frame]


def pictures(rng, out, codec, size, seconds, **options):
    stream = out.add_stream(codec, rate=10, options=options)
    stream.width, stream.height = size
    stream.pix_fmt = "yuv420p"
    frames = []
    for i in range(max(1, int(10 * seconds))):
        frame = av.VideoFrame(*size, "yuv420p")
        for plane in frame.planes:
            plane.update(bytes([(i * 9 + rng.randrange(4)) % 256]) * plane.buffer_size)
        frame.pts = i
        frames.append(frame)
    return stream, frames


def muxed(format, tracks, **options):
    file = tempfile.NamedTemporaryFile()  # in memory the index cannot be moved to the front
    with av.open(file.name, "w", format=format, options=options) as out:
        made = [track(out) for track in tracks]
        for stream, frames in made:
            for frame in frames:
                out.mux(stream.encode(frame))
        for stream, _ in made:
            out.mux(stream.encode(None))
    return file.read()


def audio(rng, codec, rates, **options):
    rate, channels, seconds = rng.choice(rates), rng.choice([1, 2]), rng.uniform(0.1, 0.7)
    return lambda out: sound(rng, out, codec, rate, channels, seconds, **options)


def video(rng, codec, **options):
    size, seconds = rng.choice([(16, 16), (64, 48), (176, 144)]), rng.uniform(0.2, 1)
    return lambda out: pictures(rng, out, codec, size, seconds, **options)


def wav(rng):
    if rng.random() < 0.5:
        file = io.BytesIO()
        with wave.open(file, "wb") as out:
            channels, width = rng.choice([1, 2, 6]), rng.choice([1, 2, 3, 4])
            out.setparams((channels, width, rng.choice([8000, 16000, 44100, 96000]), 0, "NONE", ""))
            out.writeframes(rng.randbytes(channels * width * rng.randrange(1, 2000)))
        return file.getvalue()
    codec = rng.choice(["pcm_s16le", "pcm_u8", "pcm_f32le", "pcm_s24le", "pcm_mulaw"])
    return muxed("wav", [audio(rng, codec, [8000, 22050, 48000])], rf64=rng.choice(["never", "always"]))


def mp3(rng):
    rates = [8000, 16000, 22050, 32000, 44100, 48000]
    options = {"b": rng.choice(["32000", "64000", "128000"])} if rng.random() < 0.5 else {"q": "4"}
    return muxed("mp3", [audio(rng, "libmp3lame", rates, **options)], write_xing=rng.choice(["0", "1", "1"]),
                 id3v2_version=rng.choice(["0", "3", "4"]))


def flac(rng):
    return muxed("flac", [audio(rng, "flac", [8000, 16000, 44100, 96000])])


def ogg(rng):
    codec = rng.choice(["libopus", "libopus", "vorbis", "flac"])
    if codec == "vorbis":  # FFmpeg's own encoder makes stereo only
        return muxed("ogg", [lambda out: sound(rng, out, codec, 44100, 2, rng.uniform(0.1, 0.7), strict="-2")])
    return muxed("ogg", [audio(rng, codec, [16000, 48000])], page_duration=rng.choice(["20000", "1000000"]))


def aac(rng):
    return muxed("adts", [audio(rng, "aac", [8000, 16000, 44100, 48000], b="32000")])


def m4a(rng):
    options = rng.choice([{}, {"movflags": "faststart"}])
    return muxed("ipod", [audio(rng, "aac", [16000, 44100, 48000], b="32000")], **options)


def film(rng, format, pairs):
    picture, tone, rates = rng.choice(pairs)
    tracks = [video(rng, picture)] if rng.random() < 0.8 or tone is None else []
    if tone and (not tracks or rng.random() < 0.6):
        tracks.append(audio(rng, tone, rates))
    flags = rng.choice(["", "", "faststart", "frag_keyframe+empty_moov"]) if format in ("mp4", "mov") else ""
    return muxed(format, tracks, **({"movflags": flags} if flags else {}))


def mp4(rng):
    return film(rng, "mp4", [("mpeg4", "aac", [44100]), ("libx264", "aac", [16000, 48000])])


def mov(rng):
    return film(rng, "mov", [("mpeg4", "pcm_s16le", [44100, 96000]), ("libx264", "aac", [44100])])


def webm(rng):
    return film(rng, "webm", [("libvpx", "libopus", [48000]), ("libvpx", "libopus", [16000])])


def mkv(rng):
    return film(rng, "matroska", [("mpeg4", "libmp3lame", [44100]), ("mpeg4", "flac", [48000])])


MAKERS = {"WAV": wav, "MP3": mp3, "FLAC": flac, "OGG": ogg, "AAC": aac, "M4A": m4a, "MP4": mp4, "MOV": mov, "WEBM": webm, "MKV": mkv}


# ---- What is said of a file: a dict with some of rate, channels, size, duration; None if it is not read


def by_ffmpeg(data, format=None):
    try:
        with av.open(io.BytesIO(data), format=format) as file:
            said = {"kind": "video" if file.streams.video else "audio"}
            if file.streams.audio:
                said.update(rate=file.streams.audio[0].rate, channels=file.streams.audio[0].channels)
            if file.streams.video:
                said["size"] = (file.streams.video[0].width, file.streams.video[0].height)
            if file.duration is not None:
                said["duration"] = file.duration / av.time_base
            return said
    except Exception:
        return None


READERS = {"WAV": [mutagen.wave.WAVE], "MP3": [mutagen.mp3.MP3], "FLAC": [mutagen.flac.FLAC], "AAC": [mutagen.aac.AAC],
           "M4A": [mutagen.mp4.MP4], "OGG": [mutagen.oggopus.OggOpus, mutagen.oggvorbis.OggVorbis]}


def by_mutagen(data, format):
    for reader in READERS[format]:
        try:
            info = reader(io.BytesIO(data)).info
        except Exception:
            continue
        said = {"kind": "audio", "rate": getattr(info, "sample_rate", None), "channels": info.channels, "duration": info.length}
        return {key: value for key, value in said.items() if value}
    return None


def by_parley(parley, paths, *options):
    result = subprocess.run([parley, "media", "check", "--json", *options, *paths], capture_output=True)
    if result.returncode not in (0, 1):
        sys.exit(f"exit {result.returncode}: {result.stderr.decode()[:2000]}")
    return [json.loads(line) for line in result.stdout.splitlines()]


def said_by(line):
    said = {"kind": line["kind"], "rate": line["sample_rate"], "channels": line["channels"], "duration": line["duration"]}
    if line["width"]:
        said["size"] = (line["width"], line["height"])
    return {key: value for key, value in said.items() if value is not None}


def differences(ours, theirs, tolerance):
    out = [key for key in ("kind", "rate", "channels", "size") if key in ours and key in theirs and ours[key] != theirs[key]]
    if "duration" in ours and "duration" in theirs and abs(ours["duration"] - theirs["duration"]) > tolerance:
        out.append("duration")
    return out


# ---- The two comparisons


def compare_good(parley, folder, format, paths):
    wrong = 0
    for path, line in zip(paths, by_parley(parley, paths), strict=True):
        data = path.read_bytes()
        # A few frames of AAC are too few for FFmpeg to see what they are.
        ours, theirs = said_by(line), by_ffmpeg(data, "aac" if format == "AAC" else None)
        # Frames of sound: what an encoder puts before and behind may be counted or not.
        tolerance = 0.002 if format in ("WAV", "FLAC") else 0.15 if line["is_estimate"] else 0.03
        # A film in fragments does not say how long it is; FFmpeg adds them up.
        missing = [key for key in theirs if key not in ours and not (key == "duration" and b"moof" in data)]
        differing = differences(ours, theirs, tolerance)
        if not line["valid"] or line["is_cut_off"] or line["format"] != format and (format, line["format"]) != ("MP4", "M4A") or missing or differing:
            wrong += 1
            print(f"{path.name}: FFmpeg {theirs}, Parley {line}")
    return wrong


def compare_mutants(parley, folder, format, paths):
    verdicts = by_parley(parley, paths)
    texts = []
    some = slice(None, None, 3)  # of these the base64, to save time
    for path in paths[some]:
        text = path.with_name("base64-" + path.name)
        text.write_bytes(base64.encodebytes(path.read_bytes()))
        texts.append(text)
    unstable = 0
    for path, line, other in zip(paths[some], verdicts[some], by_parley(parley, texts, "--base64"), strict=True):
        if {**other, "file": "", "bytes": 0} != {**line, "file": "", "bytes": 0}:
            unstable += 1
            print(f"{path.name}: {line}, as base64 {other}")
    both, valid, unnamed, names = 0, 0, 0, collections.Counter()
    for path, line in zip(paths, verdicts, strict=True):
        valid += line["valid"]
        data = path.read_bytes()
        theirs = by_mutagen(data, format) if format in READERS else by_ffmpeg(data)
        if not line["valid"] or theirs is None:
            continue
        both += 1
        ours = said_by(line)
        for what in differences(ours, theirs, 0.2 + 0.02 * theirs.get("duration", 0)):
            name = next((name for name, holds in NAMED if holds(format, what, line, theirs, data)), None)
            if name:
                names[name] += 1
            else:
                unnamed += 1
                print(f"{path.name}: {what}: judge {theirs}, Parley {line}")
    text = ", ".join(f"{name} {count}" for name, count in sorted(names.items())) or "none"
    print(f"{format}: {len(paths)} mutants, {valid} good, {both} read by the judge too; unstable {unstable}, differ {unnamed}, by name: {text}")
    return unstable == 0 and unnamed <= MAX_UNNAMED * both


# ---- Differences that have a name: holds(format, what, line, theirs, data)


def by_index(format, what, line, theirs, data):
    """The header of the film says so; the tracks, which judges look at, say otherwise."""
    at = data.find(b"mvhd")
    if what != "duration" or format not in ("M4A", "MP4", "MOV") or at < 0 or data[at + 4] != 0:
        return False
    unit, duration = struct.unpack_from(">II", data, at + 16)
    return unit != 0 and abs(duration / unit - line["duration"]) < 0.001


def spellings(format, what, line):
    """How the container may spell the number that Parley read."""
    if format in ("M4A", "MP4", "MOV"):
        if what == "size":
            return [struct.pack(">HHHH", line["width"], 0, line["height"], 0)]
        return [struct.pack(">HH", line["channels"], 16) if what == "channels" else struct.pack(">HH", line["sample_rate"] % 65536, 0)]
    if what == "size":
        return [bytes([0xB0, 0x80 | n]) + line["width"].to_bytes(n, "big") for n in (1, 2) if line["width"] < 256**n]
    if what == "channels":
        return [bytes([0x9F, 0x81, line["channels"]])]
    return [b"\xb5\x88" + struct.pack(">d", line["sample_rate"]), b"\xb5\x84" + struct.pack(">f", line["sample_rate"])]


def by_container(format, what, line, theirs, data):
    """The container says so; the stream inside of it, which judges look at, says otherwise."""
    return (format in ("M4A", "MP4", "MOV", "WEBM", "MKV") and what in ("size", "rate", "channels") and
            any(spelled in data for spelled in spellings(format, what, line)))


def by_codec(format, what, line, theirs, data):
    """The track says that it has pictures; FFmpeg does not know their codec and leaves them out."""
    return what == "kind" and format in ("WEBM", "MKV") and line["kind"] == "video" and b"\x83\x81\x01" in data


def by_handler(format, what, line, theirs, data):
    """A track does not say that it has pictures; FFmpeg goes by its codec."""
    return what == "kind" and format in ("MP4", "MOV") and not re.search(rb"hdlr.{8}vide", data, re.DOTALL)


def by_silence(format, what, line, theirs, data):
    """FFmpeg's encoder says how much of its sound is not to be played; mutagen believes only LAME."""
    return (format == "MP3" and what == "duration" and b"Lav" in data and
            0 < theirs["duration"] - line["duration"] < 8190 / line["sample_rate"])


def agreed(format, what, line, theirs, data):
    """mutagen finds the first frame elsewhere than FFmpeg and Parley do."""
    other = by_ffmpeg(data) if format in READERS else None
    return other is not None and what not in differences(said_by(line), other, 0.1 + 0.1 * other.get("duration", 0))


NAMED = [
    ("cut off, what is there is counted",
     lambda format, what, line, theirs, data: format in ("WAV", "AAC") and what == "duration" and line["is_cut_off"]),
    ("the header of the film", by_index),
    ("the container", by_container),
    ("a track of unknown kind", by_handler),
    ("a codec of unknown kind", by_codec),
    ("sound that is not played", by_silence),
    ("a number that was left out",  # and has a value by default
     lambda format, what, line, theirs, data: format in ("WEBM", "MKV") and (what, said_by(line)[what]) in (("channels", 1), ("rate", 8000))),
    ("FFmpeg agrees", agreed),
    ("an estimate", lambda format, what, line, theirs, data: what == "duration" and line["is_estimate"]),
]


def main(parley, folder, count, seed):
    folder = pathlib.Path(folder)
    print(f"FFmpeg by PyAV {av.__version__}, mutagen {mutagen.version_string}, seed {seed}")
    good = True
    for format, maker in MAKERS.items():
        rng = random.Random(f"{seed} {format}")
        originals = [maker(rng) for _ in range(12)]
        paths = []
        for i, data in enumerate(originals):
            paths.append(folder / f"{format.lower()}-good-{i:04}")
            paths[-1].write_bytes(data)
        wrong = compare_good(parley, folder, format, paths)
        print(f"{format}: {len(paths)} good files, {wrong} differ")
        paths = []
        for i in range(int(count)):
            paths.append(folder / f"{format.lower()}-{i:04}")
            damaged = mutant(rng, rng.choice(originals), originals, head=400, in_head=0.6, kinds=(0.6, 0.75, 0.83, 0.9, 0.95))
            paths[-1].write_bytes(damaged)
        good = compare_mutants(parley, folder, format, paths) and wrong == 0 and good
    return 0 if good else 1


sys.exit(main(*sys.argv[1:]))
