// ContainerNetwork: the network as simulated containers of one node see it, and the functions that their programs get from it.
import type { Clock } from '../../base/time/clock.ts'
import type { ByteStream } from '../../platform/http/byte-stream.ts'
import type { SendOn } from '../../platform/http/outbound.ts'
import type { ConnectionOwner } from './simulated-connection.ts'
import { FetchResponse, simulatedFetch, type FetchInit } from './simulated-fetch.ts'

/** A container that opens connections. */
export interface PodClient {
  readonly namespace: string
  readonly name: string
  /** Empty if the pod uses the network of its node. */
  readonly address: string
  readonly owner: ConnectionOwner
}

export interface ContainerNetwork {
  readonly nodeAddress: string
  /** HTTP on connections. */
  readonly sendOn: SendOn
  /** `host` is a name or an address. */
  connect(client: PodClient, host: string, port: number, signal: AbortSignal): Promise<ByteStream>
  resolve(client: PodClient, name: string, signal: AbortSignal): Promise<readonly string[]>
}

/** What a program can do with the network. */
export interface NetworkFunctions {
  readonly fetch: (url: string, init?: FetchInit) => Promise<FetchResponse>
  readonly connect: (host: string, port: number, signal?: AbortSignal) => Promise<ByteStream>
  readonly resolve: (name: string) => Promise<readonly string[]>
}

/** `endedSignal` is aborted when the program has exited; it is created on first use. */
export function networkFunctions(
  network: ContainerNetwork | undefined,
  client: PodClient,
  clock: Clock,
  endedSignal: () => AbortSignal,
): NetworkFunctions {
  const until = (signal: AbortSignal | undefined) =>
    signal === undefined ? endedSignal() : AbortSignal.any([signal, endedSignal()])
  const connect: NetworkFunctions['connect'] = (host, port, signal) =>
    network === undefined ? Promise.reject(noNetwork()) : network.connect(client, host, port, until(signal))
  return {
    connect,
    async fetch(url, init = {}) {
      if (network === undefined) throw noNetwork()
      const deps = { dial: connect, sendOn: network.sendOn, clock }
      return new FetchResponse(await simulatedFetch(url, { ...init, signal: until(init.signal) }, deps))
    },
    resolve: (name) =>
      network === undefined ? Promise.reject(noNetwork()) : network.resolve(client, name, endedSignal()),
  }
}

const noNetwork = () => new Error('this runtime has no network: simulated pods of a cluster have one')
