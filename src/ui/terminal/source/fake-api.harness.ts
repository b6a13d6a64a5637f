// A ServerApi whose responses a test gives: documents by target, and streams that the test writes to.
import type { ObjectRef } from '../state/resources.ts'
import type { ServerApi } from './server-api.ts'

/** A response that is being streamed. */
export class FakeStream {
  readonly target: string
  readonly accept: string
  readonly #pieces: (string | Error | undefined)[] = []
  #woken = Promise.withResolvers<void>()

  constructor(target: string, accept: string) {
    this.target = target
    this.accept = accept
  }

  /** The value of a parameter of the request. */
  parameter(name: string): string | null {
    return new URLSearchParams(this.target.split('?')[1]).get(name)
  }

  text(text: string): void {
    this.#add(text)
  }

  /** Values as lines of JSON. */
  lines(...values: readonly object[]): void {
    this.#add(values.map((value) => `${JSON.stringify(value)}\n`).join(''))
  }

  end(): void {
    this.#add(undefined)
  }

  fail(error: Error): void {
    this.#add(error)
  }

  #add(piece: string | Error | undefined): void {
    this.#pieces.push(piece)
    this.#woken.resolve()
  }

  async *pieces(signal: AbortSignal): AsyncGenerator<string> {
    const aborted = (): void => this.fail(new Error('aborted'))
    signal.addEventListener('abort', aborted, { once: true })
    try {
      for (;;) {
        signal.throwIfAborted()
        if (this.#pieces.length === 0) {
          this.#woken = Promise.withResolvers()
          await this.#woken.promise
        }
        const piece = this.#pieces.shift()
        if (piece === undefined) return
        if (piece instanceof Error) throw piece
        yield piece
      }
    } finally {
      signal.removeEventListener('abort', aborted)
    }
  }
}

export class FakeApi implements ServerApi {
  /** The targets that were read. */
  readonly reads: string[] = []
  readonly streams: FakeStream[] = []
  readonly deletes: { readonly target: string; readonly options: object }[] = []
  readonly patches: { readonly target: string; readonly type: string; readonly patch: object }[] = []
  /** Each may throw. */
  document: (target: string) => unknown = () => ({})
  onStream: (stream: FakeStream) => void = () => undefined
  onDelete: () => void = () => undefined
  onPatch: () => void = () => undefined
  explanation: (object: ObjectRef) => readonly string[] = () => []

  async read(target: string): Promise<unknown> {
    this.reads.push(target)
    return this.document(target)
  }

  async *stream(target: string, accept: string, signal: AbortSignal): AsyncGenerator<string> {
    const stream = new FakeStream(target, accept)
    this.streams.push(stream)
    this.onStream(stream)
    yield* stream.pieces(signal)
  }

  async delete(target: string, options: object): Promise<void> {
    this.deletes.push({ target, options })
    this.onDelete()
  }

  async patch(target: string, type: string, patch: object): Promise<void> {
    this.patches.push({ target, type, patch })
    this.onPatch()
  }

  async why(object: ObjectRef): Promise<readonly string[]> {
    return this.explanation(object)
  }

  /** The stream that was requested last. */
  get newest(): FakeStream {
    const stream = this.streams.at(-1)
    if (stream === undefined) throw new Error('no stream has been requested')
    return stream
  }
}
