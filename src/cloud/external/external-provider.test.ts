// The contract of cloud providers, in this process and behind a socket; a provider that fails, hangs, is killed and restarted.
import { deepEqual, equal, rejects } from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Node } from '../../api/core/v1/node/node.ts'
import { context } from '../../base/observability/context.ts'
import { realClock } from '../../base/time/clock.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import { GrpcChannel } from '../../wire/grpc/grpc-channel.ts'
import { providerContract } from '../provider/provider-contract.suite.ts'
import type { CloudFault } from '../simulated/cloud-faults.ts'
import { SimulatedCloud } from '../simulated/simulated-cloud.ts'
import { externalProvider } from './external-provider.ts'

const { signal } = new AbortController()
const ctx = context(signal)
const node = { metadata: { name: 'node-0' }, spec: {}, status: {} } as unknown as Node
const program = fileURLToPath(new URL('provider-server.harness.ts', import.meta.url))

async function startProvider(path: string, faults: readonly CloudFault[] = []): Promise<ChildProcess> {
  const child = spawn(process.execPath, [program, path, JSON.stringify(faults)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  return child
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL')
  await once(child, 'close')
}

/** A channel to a socket in a new directory, which is removed at the end. */
async function withSocket(use: (path: string, channel: GrpcChannel) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'coxswain-cloud-'))
  const path = join(folder, 'provider.sock')
  const channel = new GrpcChannel({ http2: nodePlatform.http2, clock: realClock, endpoint: `unix:${path}` })
  try {
    await use(path, channel)
  } finally {
    channel.close()
    await rm(folder, { recursive: true })
  }
}

providerContract('in this process', (run) => {
  const cloud = new SimulatedCloud({ clock: realClock })
  cloud.addInstance('node-0', '192.0.2.1')
  return run(cloud.provider)
})

providerContract('behind a socket', (run) =>
  withSocket(async (path, channel) => {
    const child = await startProvider(path)
    try {
      await run(await externalProvider(channel, signal))
    } finally {
      await kill(child)
    }
  }),
)

test('the message of a failure is passed on, and a call that hangs ends with its signal', () =>
  withSocket(async (path, channel) => {
    const child = await startProvider(path, [
      { operation: 'FindInstance', action: { kind: 'fail', message: 'quota exceeded' }, times: 1 },
      { operation: 'FindInstance', action: { kind: 'hang' }, times: 1 },
    ])
    const { instances, name } = await externalProvider(channel, signal)
    equal(name, 'simulated')
    await rejects(async () => instances?.find(node, ctx), { message: 'quota exceeded' })
    const stop = new AbortController()
    const hanging = instances?.find(node, context(stop.signal))
    stop.abort(new Error('gave up'))
    await rejects(async () => hanging, { message: 'gave up' })
    equal((await instances?.find(node, ctx))?.zone, 'zone-a')
    await kill(child)
  }))

test('a call fails when the provider is killed, and the next one reaches its successor', () =>
  withSocket(async (path, channel) => {
    await rejects(externalProvider(channel, signal), 'no provider runs')
    const first = await startProvider(path, [{ operation: 'FindInstance', action: { kind: 'hang' } }])
    const { instances } = await externalProvider(channel, signal)
    const interrupted = instances?.find(node, ctx)
    const failed = rejects(async () => interrupted)
    await kill(first)
    await failed
    await rm(path)
    const second = await startProvider(path)
    deepEqual((await instances?.find(node, ctx))?.addresses, [{ type: 'InternalIP', address: '192.0.2.1' }])
    await kill(second)
  }))
