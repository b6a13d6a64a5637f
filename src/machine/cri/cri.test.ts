import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { plainContainer, plainSandbox } from '../runtime/runtime-config.ts'
import { containerMessage, resourcesMessage, sandboxMessage } from './config-messages.ts'
import { imageService, runtimeService } from './methods.ts'
import { pauseProgram } from './pause-program.ts'
import { imageOf, podOf, podUidLabel, semanticVersion } from './status-messages.ts'

test('calls have the paths of CRI v1', () => {
  equal(runtimeService.runPodSandbox.path, '/runtime.v1.RuntimeService/RunPodSandbox')
  equal(imageService.pullImage.path, '/runtime.v1.ImageService/PullImage')
})

test('sandbox and container messages contain labels and namespaces', () => {
  const sandbox = {
    ...plainSandbox('u', 'default', 'web'),
    namespaces: { network: 'node', processes: 'pod', ipc: 'pod' } as const,
  }
  const message = sandboxMessage(sandbox)
  deepEqual(message.metadata, { name: 'web', uid: 'u', namespace: 'default', attempt: 0 })
  deepEqual(message.linux?.securityContext?.namespaceOptions, { network: 'NODE', pid: 'POD', ipc: 'POD' })
  const container = containerMessage({ ...plainContainer('c', 'nginx', 2), imageId: 'sha256:1' }, sandbox)
  deepEqual([container.metadata, container.image?.image], [{ name: 'c', attempt: 2 }, 'sha256:1'])
  equal(container.labels?.[podUidLabel], 'u')
  const security = container.linux?.securityContext
  equal(security?.maskedPaths?.includes('/proc/kcore'), true)
  const target = containerMessage({ ...plainContainer('d', 'x'), targetId: 'id' }, sandbox)
  deepEqual(target.linux?.securityContext?.namespaceOptions, {
    network: 'POD',
    pid: 'TARGET',
    ipc: 'POD',
    targetId: 'id',
  })
  deepEqual(resourcesMessage({ cpuQuotaUs: 1, memoryBytes: 2 }).memoryLimitInBytes, 2)
})

test('CRI messages are converted to the types of the contract', () => {
  const seen = podOf(
    {
      id: 's',
      metadata: { name: 'web', uid: 'u', namespace: 'default', attempt: 1 },
      state: 'SANDBOX_READY',
      createdAt: 0n,
      network: { ip: '10.0.0.1', additionalIps: [{ ip: 'fd00::1' }] },
      linux: undefined,
      labels: {},
      annotations: {},
      runtimeHandler: '',
    },
    [],
  )
  deepEqual([seen.ips, seen.attempt, seen.isReady], [['10.0.0.1', 'fd00::1'], 1, true])
  const image = { id: 'i', repoTags: [], repoDigests: [], size: 1, uid: undefined, username: 'web', spec: undefined }
  equal(imageOf({ ...image, pinned: false }).uid, undefined)
})

for (const [reported, version] of [
  ['1.6.20~ds1', '1.6.20+ds1'],
  ['v2.1.4', 'v2.1.4'],
  ['2.2.0-rc.1', '2.2.0-rc.1'],
] as const)
  test(`the version ${reported} of a runtime is ${version}`, () => equal(semanticVersion(reported), version))

test('the pause program is an executable for each architecture', () => {
  for (const [architecture, machine] of [
    ['amd64', 62],
    ['arm64', 183],
  ] as const) {
    const program = new DataView(pauseProgram(architecture).buffer)
    deepEqual([program.getUint32(0), program.getUint16(18, true)], [0x7f454c46, machine])
    equal(program.getBigUint64(96, true), BigInt(program.byteLength))
  }
})
