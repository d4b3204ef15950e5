# In Ollama's language the peer cannot be told what an answer cost, or that it came to its limit.
s/^usage: .*/usage: 0 in, 0 out/
s/^finish: length$/finish: stop/
