// Calls to a driver process over its unix socket. The requests are compared with bytes of the published field numbers.
import { deepEqual, equal, ok, rejects } from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { realClock } from '../../base/time/clock.ts'
import { nodeHttp2 } from '../../platform/node/http/http2-client.ts'
import { serveGrpc, type ServedMethods } from '../../wire/grpc/grpc-server.harness.ts'
import { GrpcError } from '../../wire/grpc/grpc-status.ts'
import { encodeProto } from '../../wire/protobuf/encode-proto.ts'
import { grpcCsiDrivers } from './grpc-csi-drivers.ts'
import { createVolumeRequest } from './messages/controller.ts'
import { nodeGetInfoResponse, nodePublishVolumeRequest } from './messages/node.ts'
import { nodeService } from './methods.ts'

const { signal } = new AbortController()

async function driverOf(methods: ServedMethods) {
  const folder = mkdtempSync(join(tmpdir(), 'csi-'))
  const path = join(folder, 'csi.sock')
  const server = await serveGrpc(methods, { path })
  const driver = grpcCsiDrivers({ http2: nodeHttp2, clock: realClock }).open(path)
  return {
    driver,
    async [Symbol.asyncDispose]() {
      driver.close()
      await server[Symbol.asyncDispose]()
      rmSync(folder, { recursive: true })
    },
  }
}

test('a driver is called by the path of its socket', async () => {
  await using served = await driverOf({
    '/csi.v1.Node/NodeGetInfo': (call) => {
      const accessibleTopology = { segments: { zone: 'a' } }
      call.send(encodeProto(nodeGetInfoResponse, { nodeId: 'node-1', maxVolumesPerNode: 3, accessibleTopology }))
      call.finish(0)
    },
  })
  const info = await served.driver.call(nodeService.nodeGetInfo, {}, signal)
  equal(info.nodeId, 'node-1')
  equal(info.maxVolumesPerNode, 3)
  deepEqual({ ...info.accessibleTopology?.segments }, { zone: 'a' })
})

test("a failed call rejects with the driver's code and message", async () => {
  await using served = await driverOf({
    '/csi.v1.Node/NodeUnpublishVolume': (call) => call.finish(5, 'no volume v1'),
  })
  await rejects(served.driver.call(nodeService.nodeUnpublishVolume, { volumeId: 'v1' }, signal), (error) => {
    ok(error instanceof GrpcError)
    equal(error.code, 'NOT_FOUND')
    equal(error.details, 'no volume v1')
    return true
  })
})

/** A field with a length: its number and wire type in one byte, the length in another. */
const field = (number: number, ...content: readonly number[]): number[] => [
  (number << 3) | 2,
  content.length,
  ...content,
]
const text = (value: string): number[] => [...new TextEncoder().encode(value)]
const entry = (key: string, value: string): number[] => [...field(1, ...text(key)), ...field(2, ...text(value))]

const messages = [
  {
    name: 'CreateVolumeRequest',
    bytes: encodeProto(createVolumeRequest, {
      name: 'pvc-1',
      capacityRange: { requiredBytes: 5, limitBytes: 7 },
      volumeCapabilities: [
        { mount: { fsType: 'ext4', mountFlags: ['ro'] }, accessMode: { mode: 'SINGLE_NODE_WRITER' } },
      ],
      parameters: { a: 'b' },
      secrets: { c: 'd' },
      volumeContentSource: { snapshot: { snapshotId: 's' } },
      accessibilityRequirements: { preferred: [{ segments: { z: '1' } }] },
      mutableParameters: { e: 'f' },
    }),
    fields: [
      field(1, ...text('pvc-1')),
      field(2, 0x08, 5, 0x10, 7),
      field(3, ...field(2, ...field(1, ...text('ext4')), ...field(2, ...text('ro'))), ...field(3, 0x08, 1)),
      field(4, ...entry('a', 'b')),
      field(5, ...entry('c', 'd')),
      field(6, ...field(1, ...field(1, ...text('s')))),
      field(7, ...field(2, ...field(1, ...entry('z', '1')))),
      field(8, ...entry('e', 'f')),
    ],
  },
  {
    name: 'NodePublishVolumeRequest',
    bytes: encodeProto(nodePublishVolumeRequest, {
      volumeId: 'v',
      publishContext: { a: 'b' },
      stagingTargetPath: '/s',
      targetPath: '/t',
      volumeCapability: { block: {} },
      readonly: true,
      secrets: { c: 'd' },
      volumeContext: { e: 'f' },
    }),
    fields: [
      field(1, ...text('v')),
      field(2, ...entry('a', 'b')),
      field(3, ...text('/s')),
      field(4, ...text('/t')),
      field(5, ...field(1)),
      [0x30, 1],
      field(7, ...entry('c', 'd')),
      field(8, ...entry('e', 'f')),
    ],
  },
]

for (const { name, bytes, fields } of messages)
  test(`${name} is encoded with the published field numbers`, () => deepEqual([...bytes], fields.flat()))
