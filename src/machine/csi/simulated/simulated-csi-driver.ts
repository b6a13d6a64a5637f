// SimulatedStorage: a CSI driver in memory, for simulated nodes. All nodes share its volumes; each node has its own
// CsiDriver. A test injects failures, delays and exits for each call.
//
//   const storage = new SimulatedStorage({ clock })
//   const driver = storage.driverOf({ id: 'node-1' })
//   storage.inject({ method: 'CreateVolume', when: 'after', action: { kind: 'exit' }, times: 1 })
import { getOrInsert } from '../../../base/collections/get-or-insert.ts'
import type { Clock } from '../../../base/time/clock.ts'
import type { GrpcMethod } from '../../../wire/grpc/grpc-channel.ts'
import { GrpcError } from '../../../wire/grpc/grpc-status.ts'
import { decodeProto } from '../../../wire/protobuf/decode-proto.ts'
import { encodeProto } from '../../../wire/protobuf/encode-proto.ts'
import type { Message, Proto, ProtoInput } from '../../../wire/protobuf/proto-message.ts'
import type { TreeNode } from '../../disk/file-tree.ts'
import type { CsiDriver } from '../csi-driver.ts'
import { CallOrder } from './call-order.ts'
import type { CallFault } from './call-faults.ts'
import { CsiService, type CallRecord } from './csi-service.ts'
import { DriverError } from './driver-error.ts'
import { MemoryContents } from './memory-contents.ts'
import { simulatedMounts, type MountTable } from './simulated-mounts.ts'
import {
  noRecords,
  storageConfigDefault,
  type DriverNode,
  type StorageConfig,
  type StorageRecords,
  type StorageSystem,
} from './storage-system.ts'

export interface SimulatedStorageOptions extends Partial<StorageConfig> {
  readonly clock: Clock
  /** How long each call takes. */
  readonly callMs?: number
  /** How long the driver is unavailable after it exited. */
  readonly restartMs?: number
}

/** What a test sees of the driver, and how it breaks it. */
export interface StorageControl {
  /** The answered calls, oldest first. */
  readonly calls: readonly CallRecord[]
  readonly records: StorageRecords
  inject(...faults: readonly CallFault[]): void
  removeFaults(): void
}

export interface SimulatedNodeOptions extends Partial<DriverNode> {
  readonly id: string
  /** Where volumes become visible on the node. */
  readonly mounts?: MountTable
  readonly endpoint?: string
}

/** Older calls are removed. */
const callsMax = 10_000

export class SimulatedStorage implements StorageControl {
  readonly #clock: Clock
  readonly #callMs: number
  readonly #restartMs: number
  readonly #contents = new MemoryContents()
  readonly #nodes = new Map<string, DriverNode>()
  readonly #calls: CallRecord[] = []
  #faults: readonly CallFault[] = []
  readonly #system: StorageSystem
  /** Of each node: aborted when its driver exits. */
  readonly #running = new Map<string, AbortController>()
  readonly #downUntilMs = new Map<string, number>()

  constructor({ clock, callMs = 0, restartMs = 0, ...config }: SimulatedStorageOptions) {
    this.#clock = clock
    this.#callMs = callMs
    this.#restartMs = restartMs
    this.#system = {
      config: { ...storageConfigDefault, ...config },
      clock,
      records: noRecords(),
      nodes: this.#nodes,
      contents: this.#contents,
      order: new CallOrder(),
      save: () => Promise.resolve(),
    }
  }

  get calls(): readonly CallRecord[] {
    return this.#calls
  }

  get records(): StorageRecords {
    return this.#system.records
  }

  /** The content of a volume: a directory, or a file if it is a block volume. */
  rootOf(volumeId: string): TreeNode {
    return this.#contents.rootOf(volumeId)
  }

  get config(): StorageConfig {
    return this.#system.config
  }

  inject(...faults: readonly CallFault[]): void {
    this.#faults = [...this.#faults, ...faults]
  }

  removeFaults(): void {
    this.#faults = []
  }

  driverOf({ id, topology = {}, volumesMax = 0, mounts = new Map(), endpoint = '' }: SimulatedNodeOptions): CsiDriver {
    const node = { id, topology, volumesMax }
    this.#nodes.set(id, node)
    const service = new CsiService({
      storage: this.#system,
      node,
      mounts: simulatedMounts(this.#contents, mounts),
      endpoint,
      clock: this.#clock,
      faults: { read: () => this.#faults, write: (faults) => (this.#faults = faults) },
      record: (call) => {
        if (this.#calls.push(call) > callsMax) this.#calls.shift()
      },
      exit: () => this.#exit(id),
    })
    const closed = new AbortController()
    return {
      call: (method, request, signal) =>
        this.#call(service, node, method, request, AbortSignal.any([signal, closed.signal])),
      close: () => closed.abort(new GrpcError('close', 'CANCELLED', 'the driver was closed')),
    }
  }

  async #call<Q extends Message, A extends Message>(
    service: CsiService,
    { id }: DriverNode,
    method: GrpcMethod<Q, A>,
    request: ProtoInput<Q>,
    signal: AbortSignal,
  ): Promise<Proto<A>> {
    const running = getOrInsert(this.#running, id, () => new AbortController())
    const ended = AbortSignal.any([signal, running.signal])
    try {
      this.#checkIsUp(id)
      if (this.#callMs > 0) await this.#clock.sleep(this.#callMs, ended)
      // The messages are encoded and decoded as on a socket, so that both drivers see the same values.
      const decoded = decodeProto(method.request, encodeProto(method.request, request))
      const answer = await service.perform(method, decoded, ended)
      ended.throwIfAborted()
      return decodeProto(method.response, encodeProto(method.response, answer as ProtoInput<A>))
    } catch (error) {
      signal.throwIfAborted()
      throw grpcError(method, ended.aborted ? new DriverError('UNAVAILABLE', 'the driver exited') : error)
    }
  }

  #checkIsUp(id: string): void {
    if (this.#clock.nowMs() < (this.#downUntilMs.get(id) ?? 0))
      throw new DriverError('UNAVAILABLE', 'the driver is not running')
  }

  #exit(id: string): Promise<never> {
    this.#downUntilMs.set(id, this.#clock.nowMs() + this.#restartMs)
    const running = this.#running.get(id)
    this.#running.delete(id)
    running?.abort()
    return Promise.reject(new DriverError('UNAVAILABLE', 'the driver exited'))
  }
}

const grpcError = ({ path }: GrpcMethod, error: unknown): GrpcError =>
  error instanceof DriverError
    ? new GrpcError(path, error.code, error.message)
    : new GrpcError(path, 'INTERNAL', String(error))
