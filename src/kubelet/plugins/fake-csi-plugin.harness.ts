// A storage driver for tests, with its registrar: it mounts volumes on the disk of the test, checks that calls arrive in
// the order that CSI requires, and can fail, hang or lose the answer of each call.
import { unlessAborted } from '../../base/async/unless-aborted.ts'
import type { CsiDriver, CsiDrivers } from '../../machine/csi/csi-driver.ts'
import { nodeService, registrationService } from '../../machine/csi/methods.ts'
import type { Disk } from '../../machine/disk/disk.ts'
import type { GrpcMethod } from '../../wire/grpc/grpc-channel.ts'
import { GrpcError, type GrpcCode } from '../../wire/grpc/grpc-status.ts'
import { decodeProto } from '../../wire/protobuf/decode-proto.ts'
import { encodeProto } from '../../wire/protobuf/encode-proto.ts'

export type Fault =
  | { readonly kind: 'fail'; readonly code: GrpcCode; readonly details: string }
  /** The call takes no effect and never ends. */
  | { readonly kind: 'hang' }
  /** The call takes effect, but its answer is lost. */
  | { readonly kind: 'lose-answer' }

/** Requests as the driver decodes them. */
type Request = Readonly<Record<string, unknown>>

export interface FakeCsiOptions {
  readonly name?: string
  readonly type?: string
  readonly versions?: readonly string[]
  readonly capabilities?: readonly string[]
  readonly nodeInfo?: object
  readonly stats?: object
}

export const registrarSocket = '/plugins_registry/fake-reg.sock'
export const driverSocket = '/plugins/fake/csi.sock'

export class FakeCsiPlugin {
  readonly #disk: Disk
  readonly #options: FakeCsiOptions
  readonly #faults = new Map<string, Fault[]>()
  readonly #staged = new Map<string, string>()
  readonly #published = new Map<string, string>()
  /** Names of methods with their requests, in the order of the calls. */
  readonly calls: { readonly method: string; readonly request: Request }[] = []
  readonly statuses: Request[] = []
  /** Violations of the order that CSI requires. */
  readonly violations: string[] = []

  constructor(disk: Disk, options: FakeCsiOptions = {}) {
    this.#disk = disk
    this.#options = options
  }

  /** The next calls of the method have these faults. */
  breaks(method: string, ...faults: readonly Fault[]): void {
    this.#faults.set(method, [...faults])
  }

  /** Names of the called methods of the node service that change something. */
  get changes(): readonly string[] {
    return this.calls.map(({ method }) => method).filter((method) => changing.has(method))
  }

  requestOf(method: string): Request {
    return this.calls.findLast((call) => call.method === method)?.request ?? {}
  }

  /** Paths at which something is staged or published. */
  get mounts(): readonly string[] {
    return [...this.#staged.values(), ...this.#published.keys()].toSorted()
  }

  /** In-process connections to the driver and its registrar. */
  get drivers(): CsiDrivers {
    return { open: () => this.#open() }
  }

  #open(): CsiDriver {
    const closed = new AbortController()
    return {
      call: async (method, request, signal) => {
        const either = AbortSignal.any([signal, closed.signal])
        // Messages are encoded and decoded, as by a driver in another process.
        const sent = decodeProto(method.request, encodeProto(method.request, request)) as Request
        const answer = await this.answer(method, sent, either)
        return decodeProto(method.response, encodeProto(method.response, answer as never))
      },
      close: () => closed.abort(new GrpcError('call', 'CANCELLED', 'the connection was closed')),
    }
  }

  async answer({ path }: Pick<GrpcMethod, 'path'>, request: Request, signal: AbortSignal): Promise<object> {
    const method = path.slice(path.lastIndexOf('/') + 1)
    this.calls.push({ method, request })
    const fault = this.#faults.get(method)?.shift()
    if (fault?.kind === 'fail') throw new GrpcError(method, fault.code, fault.details)
    if (fault?.kind === 'hang') return unlessAborted(new Promise<never>(() => {}), signal)
    const answer = await this.#perform(path, request)
    if (fault?.kind === 'lose-answer') throw new GrpcError(method, 'UNAVAILABLE', 'the connection was lost')
    return answer
  }

  async #perform(path: string, request: Request): Promise<object> {
    const { name = 'fake.csi', type = 'CSIPlugin', versions = ['1.0.0'], nodeInfo = { nodeId: 'id-1' } } = this.#options
    switch (path) {
      case registrationService.getInfo.path:
        return { type, name, endpoint: driverSocket, supportedVersions: versions }
      case registrationService.notifyRegistrationStatus.path:
        this.statuses.push(request)
        return {}
      case nodeService.nodeGetInfo.path:
        return nodeInfo
      case nodeService.nodeGetCapabilities.path:
        return { capabilities: this.#capabilities.map((one) => ({ rpc: { type: one } })) }
      case nodeService.nodeGetVolumeStats.path:
        return this.#options.stats ?? {}
      case nodeService.nodeExpandVolume.path:
        return { capacityBytes: (request['capacityRange'] as { requiredBytes: number }).requiredBytes }
      default:
        await this.#mountOrUnmount(path, request)
        return {}
    }
  }

  get #capabilities(): readonly string[] {
    return this.#options.capabilities ?? ['STAGE_UNSTAGE_VOLUME']
  }

  async #mountOrUnmount(path: string, request: Request): Promise<void> {
    const text = (field: string) => String(request[field])
    const id = text('volumeId')
    const target = text('targetPath')
    const staging = text('stagingTargetPath')
    const isBlock = (request['volumeCapability'] as { block?: object } | undefined)?.block !== undefined
    switch (path) {
      case nodeService.nodeStageVolume.path:
        this.#staged.set(id, staging)
        return isBlock ? undefined : this.#disk.mountTmpfs(staging, undefined)
      case nodeService.nodePublishVolume.path:
        if (this.#capabilities.includes('STAGE_UNSTAGE_VOLUME') && staging !== '' && this.#staged.get(id) !== staging)
          this.violations.push(`${id} is published before it is staged`)
        this.#published.set(target, id)
        if (isBlock) return this.#disk.write(target, { content: new Uint8Array(), mode: 0o600 })
        await this.#disk.makeDirectory(target, 0o755)
        return this.#disk.mountTmpfs(target, undefined)
      case nodeService.nodeUnpublishVolume.path:
        this.#published.delete(target)
        await this.#disk.unmount(target)
        return this.#disk.remove(target)
      case nodeService.nodeUnstageVolume.path:
        if ([...this.#published.values()].includes(id)) this.violations.push(`${id} is unstaged while it is published`)
        this.#staged.delete(id)
        return this.#disk.unmount(staging)
      default:
        throw new GrpcError(path, 'UNIMPLEMENTED', 'unknown method')
    }
  }
}

const changing = new Set([
  'NodeStageVolume',
  'NodePublishVolume',
  'NodeUnpublishVolume',
  'NodeUnstageVolume',
  'NodeExpandVolume',
])
