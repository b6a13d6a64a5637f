// Inspector: the heap of another Node.js process after a collection, and snapshots of it. The process must have been started
// with --inspect.
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'

export interface MemoryUsage {
  readonly heapUsed: number
  readonly external: number
  readonly arrayBuffers: number
}

interface Message {
  readonly id?: number
  readonly method?: string
  readonly params?: { readonly chunk?: string }
  readonly result?: unknown
  readonly error?: { readonly message: string }
}

/** The address that Node.js prints at its start. */
export function inspectorUrl(log: string): string {
  const url = /^Debugger listening on (ws:\S+)$/m.exec(log)?.[1]
  if (url === undefined) throw new Error('the server did not print the address of its inspector')
  return url
}

/** A connection for a few calls: an inspector that stays connected would keep objects of the process alive. */
export class Inspector implements Disposable {
  readonly #socket: WebSocket
  readonly #pending = new Map<number, PromiseWithResolvers<unknown>>()
  #lastId = 0
  #onChunk: (chunk: string) => void = () => {}

  static async open(url: string): Promise<Inspector> {
    const socket = new WebSocket(url)
    await once(socket, 'open')
    return new Inspector(socket)
  }

  private constructor(socket: WebSocket) {
    this.#socket = socket
    socket.addEventListener('message', ({ data }) => this.#take(JSON.parse(String(data)) as Message))
    socket.addEventListener('close', () => {
      for (const { reject } of this.#pending.values()) reject(new Error('the server closed its inspector'))
    })
  }

  /** The memory that is in use after a full collection. */
  async usageAfterCollection(): Promise<MemoryUsage> {
    await this.#call('HeapProfiler.collectGarbage')
    const expression = 'JSON.stringify(process.memoryUsage())'
    const { result } = (await this.#call('Runtime.evaluate', { expression })) as { result: { value: string } }
    return JSON.parse(result.value) as MemoryUsage
  }

  async writeSnapshot(path: string): Promise<void> {
    const file = createWriteStream(path, { mode: 0o600 })
    this.#onChunk = (chunk) => void file.write(chunk)
    await this.#call('HeapProfiler.takeHeapSnapshot')
    file.end()
    await once(file, 'close')
  }

  [Symbol.dispose](): void {
    this.#socket.close()
  }

  #call(method: string, params: object = {}): Promise<unknown> {
    const id = ++this.#lastId
    const answer = Promise.withResolvers<unknown>()
    this.#pending.set(id, answer)
    this.#socket.send(JSON.stringify({ id, method, params }))
    return answer.promise
  }

  #take({ id, method, params, result, error }: Message): void {
    if (method === 'HeapProfiler.addHeapSnapshotChunk') this.#onChunk(params?.chunk ?? '')
    if (id === undefined) return
    const answer = this.#pending.get(id)
    this.#pending.delete(id)
    if (error === undefined) answer?.resolve(result)
    else answer?.reject(new Error(error.message))
  }
}
