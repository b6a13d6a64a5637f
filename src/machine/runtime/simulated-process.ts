// Simulated programs: TypeScript functions with arguments, environment, streams, signals and ports.
import type { Clock } from '../../base/time/clock.ts'
import type { ByteStream } from '../../platform/http/byte-stream.ts'
import { Unreachable } from '../../platform/http/outbound.ts'
import { byteStreamPair } from '../../wire/byte-pipe.ts'
import { GrpcError } from '../../wire/grpc/grpc-status.ts'
import type { ProcessStreams } from './container-runtime.ts'

/** The interface of a simulated program to its container. */
export interface SimulatedProcess {
  readonly arguments: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  readonly clock: Clock
  /** Prints a line into the container's log. */
  readonly log: (line: string) => void
  /** Input of clients that attach to it. */
  readonly stdin: AsyncIterable<Uint8Array>
  /** Aborted when the container is stopped; the reason is the name of the signal. */
  readonly terminated: AbortSignal
  /** Accepts connections at a port of the pod. */
  readonly listen: (port: number, accept: (connection: ByteStream) => void | Promise<void>) => void
  /** Serves HTTP/1.1 at a port. */
  readonly serveHttp: (port: number, handle: SimulatedHttpHandler) => void
  /** Serves gRPC health checks: `SERVING`, `NOT_SERVING`. */
  readonly serveHealth: (port: number, statusOf: (service: string) => string) => void
  /** Handles exec commands in this container instead of the runtime's default. */
  readonly onCommand: (run: SimulatedCommand) => void
}

/** A container image as a function that resolves with the exit code. */
export type SimulatedProgram = (process: SimulatedProcess) => Promise<number>

/** Handles an exec command. */
export type SimulatedCommand = (
  command: readonly string[],
  container: { readonly name: string; readonly image: string },
  io: ProcessStreams,
) => Promise<SimulatedResult>

export interface SimulatedResult {
  readonly exitCode: number
  readonly stdout?: string
  readonly stderr?: string
}

/** The exit code of shells for a command that cannot be executed. */
const notRunCode = 126

/** The default for commands of users: they fail, because simulated containers have no programs. */
export const notRun: SimulatedCommand = (command, { name }) =>
  Promise.resolve({
    exitCode: notRunCode,
    stderr: `${JSON.stringify(command.join(' '))} was not run: container ${name} is simulated and has no programs\n`,
  })

export interface SimulatedRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
}

export type SimulatedHttpHandler = (request: SimulatedRequest) => SimulatedResponse | Promise<SimulatedResponse>

export interface SimulatedResponse {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** The default program: it runs until it is stopped. */
export const serveUntilTerminated: SimulatedProgram = ({ terminated }) =>
  new Promise((resolve) => {
    if (terminated.aborted) return resolve(0)
    terminated.addEventListener('abort', () => resolve(0), { once: true })
  })

const connectionBytesMax = 64 * 1024

/** The ports of a container. */
export class SimulatedPorts {
  // Created on demand, because most containers of large simulations do not listen.
  #acceptors: Map<number, (connection: ByteStream) => void | Promise<void>> | undefined
  #health: Map<number, (service: string) => string> | undefined
  /** Images without a program respond on all ports, so that pods of unknown images become ready. */
  readonly #respondsOnAllPorts: boolean

  constructor(respondsOnAllPorts: boolean) {
    this.#respondsOnAllPorts = respondsOnAllPorts
  }

  listen(port: number, accept: (connection: ByteStream) => void | Promise<void>): void {
    this.#acceptors ??= new Map()
    this.#acceptors.set(port, accept)
  }

  serveHttp(port: number, handle: SimulatedHttpHandler): void {
    this.listen(port, (connection) => serveHttp(connection, handle))
  }

  serveHealth(port: number, statusOf: (service: string) => string): void {
    this.#health ??= new Map()
    this.#health.set(port, statusOf)
  }

  /** Undefined when nothing listens on the port. */
  connect(port: number): ByteStream | undefined {
    const accept = this.#acceptors?.get(port) ?? (this.#respondsOnAllPorts ? respondOk : undefined)
    if (accept === undefined) return undefined
    const [ours, theirs] = byteStreamPair(connectionBytesMax)
    void Promise.resolve(accept(theirs)).catch(() => theirs.destroy())
    return ours
  }

  health(port: number, service: string): string | undefined {
    return this.#health?.get(port)?.(service) ?? (this.#respondsOnAllPorts ? 'SERVING' : undefined)
  }
}

export const connectionRefused = (authority: string): Unreachable =>
  new Unreachable(`dial tcp ${authority}: connect: connection refused`)

export const healthCheckRefused = (authority: string): GrpcError =>
  new GrpcError(`/grpc.health.v1.Health/Check at ${authority}`, 'UNAVAILABLE', 'connection refused', true)

const respondOk = (connection: ByteStream): Promise<void> => serveHttp(connection, () => ({ status: 200, body: 'ok' }))

/** Handles requests without bodies one after the other until the client closes the connection. */
async function serveHttp(connection: ByteStream, handle: SimulatedHttpHandler): Promise<void> {
  let text = ''
  const decoder = new TextDecoder('latin1')
  for await (const piece of connection.pieces) {
    text += decoder.decode(piece, { stream: true })
    for (let end = text.indexOf('\r\n\r\n'); end !== -1; end = text.indexOf('\r\n\r\n')) {
      const request = parseRequest(text.slice(0, end))
      text = text.slice(end + 4)
      await connection.write(responseBytes(await handle(request)))
      if (request.headers['connection']?.toLowerCase() === 'close') return connection.end()
    }
  }
  connection.end()
}

function parseRequest(head: string): SimulatedRequest {
  const [first = '', ...lines] = head.split('\r\n')
  const [method = '', path = ''] = first.split(' ')
  const headers = lines.map((line) => {
    const colon = line.indexOf(':')
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const
  })
  return { method, path, headers: Object.fromEntries(headers) }
}

function responseBytes({ status, headers = {}, body = '' }: SimulatedResponse): Uint8Array {
  const content = new TextEncoder().encode(body)
  const lines = [
    `HTTP/1.1 ${status} Simulated`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    `Content-Length: ${content.length}`,
  ]
  const head = new TextEncoder().encode(`${lines.join('\r\n')}\r\n\r\n`)
  const bytes = new Uint8Array(head.length + content.length)
  bytes.set(head)
  bytes.set(content, head.length)
  return bytes
}
