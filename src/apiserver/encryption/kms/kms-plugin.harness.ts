// A KMS plugin for tests: a gRPC server on a unix socket whose keys, health and responses can be changed while it runs.
import { createCipheriv, hash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serveGrpc, type GrpcServer, type ServedCall } from '../../../wire/grpc/grpc-server.harness.ts'
import { decodeProto } from '../../../wire/protobuf/decode-proto.ts'
import { encodeProto } from '../../../wire/protobuf/encode-proto.ts'
import type { Message, Proto, ProtoInput } from '../../../wire/protobuf/proto-message.ts'
import { kmsMethods } from './kms-messages.ts'

type Responses = {
  [Name in keyof typeof kmsMethods]?: (
    request: Proto<(typeof kmsMethods)[Name]['request']>,
  ) => ProtoInput<(typeof kmsMethods)[Name]['response']> | 'error' | 'silence'
}

/** Encrypts and decrypts: a stream cipher under a key made from the key id. */
export function wrapped(keyId: string, data: Uint8Array): Uint8Array {
  const key = hash('sha256', `kek ${keyId}`, 'buffer')
  return createCipheriv('aes-256-ctr', key, new Uint8Array(16)).update(data)
}

export class FakePlugin implements AsyncDisposable {
  readonly #directory: string
  #server: GrpcServer | undefined
  keyId = 'key-1'
  /** Responses that replace the usual ones. */
  responses: Responses = {}
  readonly calls = { status: 0, encrypt: 0, decrypt: 0 }
  #open = 0
  /** The maximum number of concurrent calls. */
  openMost = 0

  constructor(directory: string) {
    this.#directory = directory
  }

  static async start(): Promise<FakePlugin> {
    const plugin = new FakePlugin(await mkdtemp(join(tmpdir(), 'coxswain-kms-')))
    await plugin.start()
    return plugin
  }

  get endpoint(): string {
    return `unix://${this.#directory}/kms.sock`
  }

  async start(): Promise<void> {
    const path = (name: keyof typeof kmsMethods) => kmsMethods[name].path
    this.#server = await serveGrpc(
      {
        [path('status')]: (call) =>
          this.#respond('status', call, () => ({ version: 'v2', healthz: 'ok', keyId: this.keyId })),
        [path('encrypt')]: (call) =>
          this.#respond('encrypt', call, ({ plaintext }) => ({
            ciphertext: wrapped(this.keyId, plaintext),
            keyId: this.keyId,
            annotations: { 'version.example.com': new Uint8Array([1]) },
          })),
        [path('decrypt')]: (call) =>
          this.#respond('decrypt', call, ({ ciphertext, keyId }) => ({ plaintext: wrapped(keyId, ciphertext) })),
      },
      { path: `${this.#directory}/kms.sock` },
    )
  }

  async stop(): Promise<void> {
    await this.#server?.[Symbol.asyncDispose]()
    this.#server = undefined
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
    await rm(this.#directory, { recursive: true })
  }

  async #respond<Name extends keyof typeof kmsMethods>(
    name: Name,
    call: ServedCall,
    usual: NonNullable<Responses[Name]>,
  ): Promise<void> {
    this.calls[name]++
    this.openMost = Math.max(this.openMost, ++this.#open)
    let sent = new Uint8Array()
    for await (const message of call.messages) sent = message.slice()
    const method = kmsMethods[name] as { readonly request: Message; readonly response: Message }
    const make = (this.responses[name] ?? usual) as (request: object) => ProtoInput<Message> | 'error' | 'silence'
    const answer = make(decodeProto(method.request, sent))
    this.#open-- // before the response, which the client waits for
    if (answer === 'silence') return
    if (answer === 'error') return call.finish(13, 'the HSM reported: hidden')
    call.send(encodeProto(method.response, answer))
    call.finish(0)
  }
}
