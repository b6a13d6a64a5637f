// Simulated programs: TypeScript functions with arguments, environment, streams, signals and ports.
import type { Clock } from '../../base/time/clock.ts'
import type { ByteStream } from '../../platform/http/byte-stream.ts'
import { GrpcError } from '../../wire/grpc/grpc-status.ts'
import { httpAcceptor, type SimulatedHttpHandler } from '../network/serve-http.ts'
import type { FetchInit, FetchResponse } from '../network/simulated-fetch.ts'
import type { SimulatedAcceptor } from '../network/simulated-network.ts'
import type { ContainerFiles } from './container-files.ts'
import type { ProcessStreams } from './container-runtime.ts'

/** The interface of a simulated program to its container. */
export interface SimulatedProcess {
  readonly arguments: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  readonly pod: SimulatedPodIdentity
  /** The container's files, volumes included. */
  readonly files: ContainerFiles
  readonly clock: Clock
  /** Prints a line into the container's log. */
  readonly log: (line: string) => void
  /** Input of clients that attach to it. */
  readonly stdin: AsyncIterable<Uint8Array>
  /** Aborted when the container is stopped; the reason is the name of the signal. */
  readonly terminated: AbortSignal
  /** Accepts connections at a port of the pod. */
  readonly listen: (port: number, accept: SimulatedAcceptor) => void
  /** Serves HTTP/1.1 at a port. */
  readonly serveHttp: (port: number, handle: SimulatedHttpHandler) => void
  /** Serves gRPC health checks: `SERVING`, `NOT_SERVING`. */
  readonly serveHealth: (port: number, statusOf: (service: string) => string) => void
  /** Sends a request to a pod or a Service: `fetch('http://web.default.svc/path')`. */
  readonly fetch: (url: string, init?: FetchInit) => Promise<FetchResponse>
  /** Opens a connection. The host is a name or an address. Rejects with NetworkError. */
  readonly connect: (host: string, port: number, signal?: AbortSignal) => Promise<ByteStream>
  /** The addresses of a name, by the DNS configuration of the pod. Rejects with NetworkError. */
  readonly resolve: (name: string) => Promise<readonly string[]>
  /** Handles exec commands in this container instead of the runtime's default. */
  readonly onCommand: (run: SimulatedCommand) => void
}

export interface SimulatedPodIdentity {
  readonly namespace: string
  readonly name: string
  /** The pod's address; the node's if the pod uses the network of its node and has none. */
  readonly address: string
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

/** The default program: it runs until it is stopped. */
export const serveUntilTerminated: SimulatedProgram = ({ terminated }) =>
  new Promise((resolve) => {
    if (terminated.aborted) return resolve(0)
    terminated.addEventListener('abort', () => resolve(0), { once: true })
  })

/** The ports of a container. */
export class SimulatedPorts {
  readonly #clock: Clock
  // Created on demand, because most containers of large simulations do not listen.
  #acceptors: Map<number, SimulatedAcceptor> | undefined
  #health: Map<number, (service: string) => string> | undefined
  /** Images without a program respond on all ports, so that pods of unknown images become ready. */
  readonly #respondsOnAllPorts: boolean

  constructor(clock: Clock, respondsOnAllPorts: boolean) {
    this.#clock = clock
    this.#respondsOnAllPorts = respondsOnAllPorts
  }

  listen(port: number, accept: SimulatedAcceptor): void {
    this.#acceptors ??= new Map()
    this.#acceptors.set(port, accept)
  }

  serveHttp(port: number, handle: SimulatedHttpHandler): void {
    this.listen(port, httpAcceptor(handle, this.#clock))
  }

  serveHealth(port: number, statusOf: (service: string) => string): void {
    this.#health ??= new Map()
    this.#health.set(port, statusOf)
  }

  /** Undefined when nothing listens on the port. */
  acceptorAt(port: number): SimulatedAcceptor | undefined {
    return this.#acceptors?.get(port) ?? (this.#respondsOnAllPorts ? httpAcceptor(respondOk, this.#clock) : undefined)
  }

  health(port: number, service: string): string | undefined {
    return this.#health?.get(port)?.(service) ?? (this.#respondsOnAllPorts ? 'SERVING' : undefined)
  }
}

const respondOk: SimulatedHttpHandler = () => ({ status: 200, body: 'ok' })

export const healthCheckRefused = (authority: string): GrpcError =>
  new GrpcError(`/grpc.health.v1.Health/Check at ${authority}`, 'UNAVAILABLE', 'connection refused', true)
