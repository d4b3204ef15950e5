// What each dialect's requests, messages and answers are, in the words of the official clients' types.
// What the types lack although servers take it is added here, and nowhere else, with the reason. Anything else that
// Parley writes and a type does not have is an error.
import type { ConverseRequest, ConverseResponse, Message as ConverseMessage, ToolUseBlock } from '@aws-sdk/client-bedrock-runtime';
import type { Anthropic } from '@anthropic-ai/sdk';
import type { Content, GenerateContentResponse, GenerationConfig, SafetySetting, Tool, ToolConfig } from '@google/genai';
import type { ChatRequest, ChatResponse, Message as OllamaMessage, ToolCall } from 'ollama';
import type { OpenAI } from 'openai';

// Clients that change a request before they send it have types for their own side of it: on the wire an enum is its
// string, and bytes are base64. Arbitrary JSON stays what it is.
type AnyJson = Exclude<ToolUseBlock['input'], undefined>;
type Wire<T> = [AnyJson] extends [T] ? T : Spelled<T>;
type Spelled<T> = T extends Uint8Array ? string
  : T extends string ? `${T}`
  : T extends object ? { [K in keyof T]: Wire<T[K]> }
  : T;
// An answer of Parley's may leave out what only the provider knows; what it has must fit.
type Some<T> = [AnyJson] extends [T] ? T : T extends object ? { [K in keyof T]?: Some<T[K]> } : T;
type With<T, Members> = Omit<T, keyof Members> & Members;

export namespace openai {
  export type Request = OpenAI.ChatCompletionCreateParams;
  export type One = OpenAI.ChatCompletionMessageParam;
  export type Answer = Some<OpenAI.ChatCompletion>;
}

export namespace responses {
  // OpenAI binds encrypted reasoning to the id that it had there, refuses it with another and takes it without one
  // (BerriAI/litellm#15782). The type wants an id.
  type Reasoning = With<OpenAI.Responses.ResponseReasoningItem, { id?: string; encrypted_content: string }>;
  export type One = OpenAI.Responses.ResponseInputItem | Reasoning;
  export type Request = With<OpenAI.Responses.ResponseCreateParams, { input?: string | One[] }>;
  export type Answer = Some<OpenAI.Responses.Response>;
}

export namespace anthropic {
  // The types are those of API version 2026-10-21; 2023-06-01, which most models still speak, samples as well.
  type Sampling = { temperature?: number; top_p?: number; top_k?: number };
  export type Request = Anthropic.MessageCreateParams & Sampling;
  export type One = Anthropic.MessageParam;
  export type Answer = Some<Anthropic.Message>;
}

export namespace gemini {
  // The client takes { model, contents, config } and makes this of it, so it has no type for the body itself.
  export type Request = Wire<{
    contents: Content[];
    systemInstruction?: Content;
    tools?: Tool[];
    toolConfig?: ToolConfig;
    generationConfig?: GenerationConfig;
    safetySettings?: SafetySetting[];
    cachedContent?: string;
  }>;
  export type One = Wire<Content>;
  export type Answer = Some<Wire<GenerateContentResponse>>;
}

export namespace ollama {
  // The npm types are older than the server (api/types.go), which has the ids of calls and their index.
  type Call = With<ToolCall, { id?: string; function: ToolCall['function'] & { index?: number } }>;
  export type One = With<OllamaMessage, { tool_call_id?: string; tool_calls?: Call[]; images?: string[] }>;
  export type Request = With<ChatRequest, { messages: One[] }>;
  // The client makes no Date of it, whatever its type says.
  export type Answer = Some<With<ChatResponse, { message: One; created_at: string }>>;
}

export namespace converse {
  export type Request = Wire<ConverseRequest>;
  export type One = Wire<ConverseMessage>;
  export type Answer = Some<Wire<ConverseResponse>>;
}

// OpenAI's client is what these providers tell people to use; it has no types for what they add.
namespace compatible {
  type Assistant = OpenAI.ChatCompletionAssistantMessageParam & { reasoning_content?: string };
  type User = OpenAI.ChatCompletionUserMessageParam;
  type Video = { type: 'video_url'; video_url: { url: string } };
  type Others = Exclude<OpenAI.ChatCompletionMessageParam, OpenAI.ChatCompletionAssistantMessageParam | User>;
  export type One = Others | Assistant | User;
  export type OneWithVideo = Others | Assistant |
    With<User, { content: string | (Exclude<User['content'], string>[number] | Video)[] }>;
  type Said = OpenAI.ChatCompletionMessage & { reasoning_content?: string };
  type Choice = With<OpenAI.ChatCompletion.Choice, { message: Said }>;
  type Counts = OpenAI.CompletionUsage & { prompt_cache_hit_tokens?: number; prompt_cache_miss_tokens?: number; cached_tokens?: number };
  export type Answer = Some<With<OpenAI.ChatCompletion, { choices: Choice[]; usage: Counts }>>;
  export type Request<Switch, Message = One> =
    With<OpenAI.ChatCompletionCreateParamsNonStreaming, { messages: Message[]; stream?: boolean }> & Switch;
}

export namespace deepseek {
  export type One = compatible.One;
  export type Answer = compatible.Answer;
  export type Request = compatible.Request<{ thinking?: { type: 'enabled' | 'disabled' } }>;
}

export namespace moonshot {
  export type One = compatible.OneWithVideo;
  export type Answer = compatible.Answer;
  export type Request = compatible.Request<{ thinking?: { type: 'enabled' | 'disabled'; keep?: string } }, One>;
}

export namespace dashscope {
  // Its servers take the mark of a cache behind any part, as Anthropic spells it.
  type MarkedContent<C> = C extends (infer Part)[] ? (Part & { cache_control?: { type: 'ephemeral' } })[] : C;
  type Marked<T> = { [K in keyof T]: K extends 'content' ? MarkedContent<T[K]> : T[K] };
  export type One = Marked<compatible.OneWithVideo>;
  export type Answer = compatible.Answer;
  export type Request = compatible.Request<{ enable_thinking?: boolean; thinking_budget?: number }, One>;
}
