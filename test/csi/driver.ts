// A CSI driver as a process: `driver.ts <folder> <options as JSON>`. It serves CSI at `csi.sock` and the registration at
// `registration.sock` (or at the paths of the options), and prints `ready`. Volumes, records, faults and the answered
// calls are in the folder, so that a new process continues where the last one ended:
//   volumes/ snapshots/   content
//   records.json          what CsiService has recorded
//   faults.json           injected by tests, see driver-process.ts
//   calls.jsonl           one line per answered call
import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { realClock } from '../../src/base/time/clock.ts'
import { CallOrder } from '../../src/machine/csi/simulated/call-order.ts'
import type { CallFault } from '../../src/machine/csi/simulated/call-faults.ts'
import { CsiService } from '../../src/machine/csi/simulated/csi-service.ts'
import { DriverError } from '../../src/machine/csi/simulated/driver-error.ts'
import {
  storageConfigDefault,
  type DriverNode,
  type StorageRecords,
  type StorageSystem,
} from '../../src/machine/csi/simulated/storage-system.ts'
import { controllerService, identityService, nodeService, registrationService } from '../../src/machine/csi/methods.ts'
import type { GrpcMethod } from '../../src/wire/grpc/grpc-channel.ts'
import { serveGrpc, type ServedCall, type ServedMethods } from '../../src/wire/grpc/grpc-server.harness.ts'
import { grpcCodes } from '../../src/wire/grpc/grpc-status.ts'
import { decodeProto } from '../../src/wire/protobuf/decode-proto.ts'
import { encodeProto } from '../../src/wire/protobuf/encode-proto.ts'
import type { DriverOptions } from './driver-process.ts'
import { FileContents } from './file-contents.ts'
import { HostVolumeMounts } from './host-mounts.ts'

const [, , folder = '', json = '{}'] = process.argv
const options = JSON.parse(json) as DriverOptions
const inFolder = (name: string) => join(folder, name)
/** Later calls are not recorded. */
const callsMax = 100_000

type SavedRecords = { readonly [K in keyof StorageRecords]: [string, never][] }

const saved = (
  existsSync(inFolder('records.json'))
    ? JSON.parse(readFileSync(inFolder('records.json'), 'utf8'))
    : { volumes: [], snapshots: [], staged: [], published: [] }
) as SavedRecords

const records: StorageRecords = {
  volumes: new Map(saved.volumes),
  snapshots: new Map(saved.snapshots),
  staged: new Map(saved.staged),
  published: new Map(saved.published),
}

/** Replaces a file, so that a reader never sees a part of it. */
function writeWhole(name: string, value: unknown): void {
  writeFileSync(inFolder(`${name}.new`), JSON.stringify(value))
  renameSync(inFolder(`${name}.new`), inFolder(name))
}

interface ServedNode extends DriverNode {
  readonly csiSocket: string
  readonly registrationSocket: string
}

const nodes: readonly ServedNode[] = [
  {
    id: options.nodeId ?? 'node-1',
    csiSocket: options.csiSocket ?? inFolder('csi.sock'),
    registrationSocket: options.registrationSocket ?? inFolder('registration.sock'),
  },
  ...(options.others ?? []).map(({ nodeId, ...sockets }) => ({ id: nodeId, ...sockets })),
].map((node) => ({ ...node, topology: options.topology ?? {}, volumesMax: options.volumesMax ?? 0 }))

const contents = new FileContents(folder)
const storage: StorageSystem = {
  config: { ...storageConfigDefault, ...options.config },
  clock: realClock,
  records,
  nodes: new Map(nodes.map((node) => [node.id, node])),
  contents,
  order: new CallOrder(),
  save: () =>
    Promise.resolve(
      writeWhole('records.json', Object.fromEntries(Object.entries(records).map(([name, map]) => [name, [...map]]))),
    ),
}
let callCount = 0
const serviceOf = (node: ServedNode): CsiService =>
  new CsiService({
    storage,
    node,
    mounts: new HostVolumeMounts(contents),
    endpoint: node.csiSocket,
    clock: realClock,
    faults: {
      read: () =>
        existsSync(inFolder('faults.json'))
          ? (JSON.parse(readFileSync(inFolder('faults.json'), 'utf8')) as CallFault[])
          : [],
      write: (faults) => writeWhole('faults.json', faults),
    },
    record: (call) => {
      if (++callCount <= callsMax) appendFileSync(inFolder('calls.jsonl'), `${JSON.stringify(call)}\n`)
    },
    exit: () => process.exit(1),
  })

async function serve(service: CsiService, method: GrpcMethod, call: ServedCall): Promise<void> {
  const ended = new AbortController()
  call.stream.on('close', () => ended.abort())
  try {
    // The iteration must reach its end, because leaving it would destroy the stream.
    const [bytes = new Uint8Array()] = await Array.fromAsync(call.messages)
    const answer = await service.perform(method, decodeProto(method.request, bytes), ended.signal)
    call.send(encodeProto(method.response, answer))
    call.finish(0)
  } catch (error) {
    const { code, message } = error instanceof DriverError ? error : new DriverError('CANCELLED', String(error))
    if (!call.stream.destroyed) call.finish(grpcCodes.indexOf(code), message)
  }
}

const served = (service: CsiService, ...services: readonly Readonly<Record<string, GrpcMethod>>[]): ServedMethods =>
  Object.fromEntries(
    services.flatMap((methods) =>
      Object.values(methods).map((method) => [method.path, (call: ServedCall) => serve(service, method, call)]),
    ),
  )

for (const node of nodes) {
  const { csiSocket, registrationSocket } = node
  for (const path of [csiSocket, registrationSocket]) {
    mkdirSync(dirname(path), { recursive: true })
    rmSync(path, { force: true })
  }
  const service = serviceOf(node)
  await serveGrpc(served(service, identityService, controllerService, nodeService), { path: csiSocket })
  // A kubelet calls the driver as soon as it sees this socket.
  await serveGrpc(served(service, registrationService), { path: registrationSocket })
}
process.on('SIGTERM', () => {
  for (const { csiSocket, registrationSocket } of nodes)
    for (const path of [csiSocket, registrationSocket]) rmSync(path, { force: true })
  process.exit(0)
})
process.stdout.write('ready\n')
