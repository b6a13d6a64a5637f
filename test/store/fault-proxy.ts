// FaultProxy: a TCP proxy in front of one server that injects faults into the connections. It does not interpret what
// it forwards: a cut may fall anywhere in a TLS record, and a dropped response is lost after the server acted on the
// request.
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { realClock } from '../../src/base/time/clock.ts'
import { ownAddress } from '../own-address.ts'

export type Fault =
  /** Connections are closed at once, and new ones while the fault lasts. */
  | { readonly kind: 'refuse' }
  /** Each connection is closed after forwarding this many more bytes of responses. */
  | { readonly kind: 'cut'; readonly afterBytes: number }
  /** Requests arrive, responses do not. The connections are closed when the fault ends. */
  | { readonly kind: 'drop-responses' }
  /** Every piece is delayed, in both directions. */
  | { readonly kind: 'delay'; readonly ms: number }

const { signal } = new AbortController()

export class FaultProxy implements AsyncDisposable {
  readonly endpoint: string
  readonly #server: Server
  readonly #links = new Set<Link>()
  #fault: Fault | undefined

  /** `target` is an https URL; the address of the proxy is covered by the server's certificate too. */
  static async start(target: string): Promise<FaultProxy> {
    const server = createServer()
    server.listen(0, ownAddress)
    await once(server, 'listening')
    return new FaultProxy(server, new URL(target))
  }

  private constructor(server: Server, { hostname, port }: URL) {
    this.#server = server
    this.endpoint = `https://${ownAddress}:${(server.address() as AddressInfo).port}`
    server.on('connection', (client) => {
      if (this.#fault?.kind === 'refuse') return void client.destroy()
      const link = new Link(client, connect(Number(port), hostname), this.#fault, () => this.#links.delete(link))
      this.#links.add(link)
    })
  }

  /** Replaces the fault; undefined ends it. */
  set(fault: Fault | undefined): void {
    this.#fault = fault
    for (const link of [...this.#links]) link.set(fault)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.set({ kind: 'refuse' })
    this.#server.close()
    await once(this.#server, 'close')
  }
}

/** One connection. */
class Link {
  readonly #client: Socket
  readonly #server: Socket
  #fault: Fault | undefined
  #bytesBeforeCut = Infinity
  #hasDropped = false

  constructor(client: Socket, server: Socket, fault: Fault | undefined, onClosed: () => void) {
    this.#client = client
    this.#server = server
    this.set(fault)
    const close = () => {
      this.#close()
      onClosed()
    }
    for (const socket of [client, server]) socket.on('error', close).on('close', close)
    const requests = new DelayedWriter(server)
    const responses = new DelayedWriter(client)
    client.on('data', (piece: Buffer) => requests.write(piece, this.#delayMs))
    server.on('data', (piece: Buffer) => this.#respond(responses, piece))
  }

  set(fault: Fault | undefined): void {
    this.#fault = fault
    this.#bytesBeforeCut = fault?.kind === 'cut' ? fault.afterBytes : Infinity
    if (fault?.kind === 'refuse' || (this.#hasDropped && fault?.kind !== 'drop-responses')) this.#close()
  }

  get #delayMs(): number {
    return this.#fault?.kind === 'delay' ? this.#fault.ms : 0
  }

  #respond(responses: DelayedWriter, piece: Uint8Array): void {
    if (this.#fault?.kind === 'drop-responses') {
      this.#hasDropped = true
      return
    }
    responses.write(piece.subarray(0, Math.min(piece.length, this.#bytesBeforeCut)), this.#delayMs)
    this.#bytesBeforeCut -= piece.length
    if (this.#bytesBeforeCut <= 0) this.#client.end(() => this.#close())
  }

  #close(): void {
    this.#client.destroy()
    this.#server.destroy()
  }
}

/** Writes pieces in order, each after its delay. */
class DelayedWriter {
  readonly #socket: Socket
  #last: Promise<void> | undefined

  constructor(socket: Socket) {
    this.#socket = socket
  }

  write(piece: Uint8Array, delayMs: number): void {
    if (this.#last === undefined && delayMs === 0) return void this.#socket.write(piece)
    const written = this.#writeAfter(this.#last, piece, delayMs).finally(() => {
      if (this.#last === written) this.#last = undefined
    })
    this.#last = written
  }

  async #writeAfter(previous: Promise<void> | undefined, piece: Uint8Array, delayMs: number): Promise<void> {
    await Promise.all([previous, realClock.sleep(delayMs, signal)])
    if (!this.#socket.destroyed) this.#socket.write(piece)
  }
}
