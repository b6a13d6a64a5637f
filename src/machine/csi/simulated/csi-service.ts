// CsiService: one instance of a CSI driver without its transport. It records the calls and applies the faults that a test
// has injected.
import { onAbort, offAbort } from '../../../base/async/on-abort.ts'
import type { Clock } from '../../../base/time/clock.ts'
import type { GrpcMethod } from '../../../wire/grpc/grpc-channel.ts'
import type { GrpcCode } from '../../../wire/grpc/grpc-status.ts'
import { controllerService, identityService, nodeService, registrationService } from '../methods.ts'
import { attachmentCalls } from './attachment-calls.ts'
import { takeFault, type CallFault } from './call-faults.ts'
import { DriverError } from './driver-error.ts'
import { identityCalls, registrationCalls, type Registration } from './identity-calls.ts'
import { nodeCalls } from './node-calls.ts'
import type { ServiceCalls } from './service-calls.ts'
import { snapshotCalls } from './snapshot-calls.ts'
import type { DriverNode, StorageSystem, VolumeMounts } from './storage-system.ts'
import { volumeCalls } from './volume-calls.ts'

export interface CallRecord {
  readonly method: string
  readonly request: object
  readonly code: GrpcCode
}

export interface CsiServiceDeps {
  readonly storage: StorageSystem
  readonly node: DriverNode
  readonly mounts: VolumeMounts
  /** The path of the socket, for the registration. */
  readonly endpoint: string
  readonly clock: Clock
  /** The injected faults; they are read before and after each call, and written when one is used up. */
  readonly faults: { read(): readonly CallFault[]; write(faults: readonly CallFault[]): void }
  /** Called with every answered call. */
  record(call: CallRecord): void
  /** Ends the driver: it must not answer calls in progress. */
  exit(): Promise<never>
}

type Call = (request: object) => object | Promise<object>

export class CsiService {
  readonly registration: Registration = { status: undefined }
  readonly #deps: CsiServiceDeps
  readonly #calls = new Map<string, Call>()

  constructor(deps: CsiServiceDeps) {
    this.#deps = deps
    const { storage, node, mounts, endpoint } = deps
    this.#add(identityService, identityCalls(storage))
    this.#add(controllerService, {
      controllerGetCapabilities: () => ({ capabilities: controllerCapabilities(storage) }),
      ...volumeCalls(storage),
      ...attachmentCalls(storage),
      ...snapshotCalls(storage),
    })
    this.#add(nodeService, nodeCalls(storage, node, mounts))
    this.#add(registrationService, registrationCalls(storage, endpoint, this.registration))
  }

  /** Performs a decoded request. Throws a DriverError. */
  async perform(method: GrpcMethod, request: object, signal: AbortSignal): Promise<object> {
    const name = nameOf(method)
    try {
      await this.#applyFault(name, 'before', signal)
      const answer = await this.#deps.storage.order.run(() => this.#call(method.path, request))
      await this.#applyFault(name, 'after', signal)
      this.#deps.record({ method: name, request, code: 'OK' })
      return answer
    } catch (error) {
      if (signal.aborted) throw error
      const failure = error instanceof DriverError ? error : new DriverError('INTERNAL', String(error))
      this.#deps.record({ method: name, request, code: failure.code })
      throw failure
    }
  }

  #add<Methods extends Readonly<Record<string, GrpcMethod>>>(methods: Methods, calls: ServiceCalls<Methods>): void {
    // safe name: the names are those of the methods.
    for (const [name, { path }] of Object.entries(methods)) this.#calls.set(path, calls[name] as Call)
  }

  #call(path: string, request: object): object | Promise<object> {
    const call = this.#calls.get(path)
    if (call === undefined) throw new DriverError('UNIMPLEMENTED', `unknown method ${path}`)
    return call(request)
  }

  async #applyFault(method: string, when: CallFault['when'], signal: AbortSignal): Promise<void> {
    const { faults, clock, exit } = this.#deps
    const { fault, rest } = takeFault(faults.read(), method, when)
    if (fault === undefined) return
    if (fault.times !== undefined) faults.write(rest)
    const { action } = fault
    switch (action.kind) {
      case 'fail':
        throw new DriverError(action.code, action.message)
      case 'hang':
        return aborted(signal)
      case 'delay':
        return clock.sleep(action.ms, signal)
      case 'exit':
        return exit()
      default:
        action satisfies never
    }
  }
}

/** Rejects when the signal is aborted. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const abort = () => {
      offAbort(signal, abort)
      reject(signal.reason as Error)
    }
    if (signal.aborted) abort()
    else onAbort(signal, abort)
  })
}

const controllerCapabilities = ({ config }: StorageSystem) =>
  (
    [
      'CREATE_DELETE_VOLUME',
      ...(config.mustAttach ? (['PUBLISH_UNPUBLISH_VOLUME', 'PUBLISH_READONLY'] as const) : []),
      'LIST_VOLUMES',
      'LIST_VOLUMES_PUBLISHED_NODES',
      'GET_CAPACITY',
      'CREATE_DELETE_SNAPSHOT',
      'LIST_SNAPSHOTS',
      'CLONE_VOLUME',
      'EXPAND_VOLUME',
      'GET_VOLUME',
      'VOLUME_CONDITION',
      'SINGLE_NODE_MULTI_WRITER',
      'MODIFY_VOLUME',
    ] as const
  ).map((type) => ({ rpc: { type } }))

/** `CreateVolume` of `/csi.v1.Controller/CreateVolume`. */
export const nameOf = ({ path }: GrpcMethod): string => path.slice(path.lastIndexOf('/') + 1)
