// A kubelet in its own process, over HTTPS: it joins with a token, serves its port, and rejects unauthenticated
// requests.
import { deepEqual, equal, match, rejects } from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { context } from '../../base/observability/context.ts'
import { realClock } from '../../base/time/clock.ts'
import { node } from '../../api/core/v1/node/node.ts'
import { endpointSlice } from '../../api/discovery/v1/endpoint-slice.ts'
import { nodeSockets } from '../../platform/node/socket/sockets.ts'
import { bindNetworkAgents } from '../bootstrap/network-agents.ts'
import { openRemote } from '../client/remote.ts'
import { startJoinable, token } from './joinable-cluster.harness.ts'

const ctx = context(new AbortController().signal)

test('a kubelet joins with its token and serves its own port', async () => {
  await using world = await startJoinable()
  const { admin, directory, run, server } = world
  const stop = new AbortController()
  const ready = Promise.withResolvers<{ url: string }>()
  const ended = run(await world.bootstrapPath(`${token.id}.${token.secret}`), ready.resolve, stop.signal)
  await Promise.race([ready.promise, ended])
  for await (const event of admin.of(node).watch({ resourceVersion: '0' }, ctx))
    if (event.type !== 'BOOKMARK' && event.object.metadata.name === 'worker') break
  match((await ready.promise).url, /^https:\/\/127\.0\.0\.1:\d+$/)
  match(await readFile(join(directory, 'kubeconfig'), 'utf8'), /client-key: ".*kubelet-client-current\.pem"/)
  await using remote = await openRemote(server.kubeconfig, ctx.signal)
  const answer = await remote.clientAs('test').of(node).get('worker', '', ctx)
  equal(answer.status.daemonEndpoints?.kubeletEndpoint?.Port, Number(new URL((await ready.promise).url).port))
  stop.abort()
  await ended
  const again = new AbortController()
  await run(undefined, () => again.abort(), again.signal)
})

test('without a valid token there is no node', async () => {
  await using world = await startJoinable()
  const { run } = world
  await rejects(
    run(undefined, () => {}, ctx.signal),
    /there is no file .*kubeconfig, and no --bootstrap-kubeconfig/,
  )
  const wrong = await world.bootstrapPath('abcdef.ffffffffffffffff')
  await rejects(
    run(wrong, () => {}, ctx.signal),
    /does not accept the token of .*bootstrap: it is wrong or has expired/,
  )
})

test('a kubelet uses a balancer, and keeps the API servers that the cluster publishes', async () => {
  await using world = await startJoinable()
  const { admin, directory, run, server } = world
  const stop = new AbortController()
  const ready = Promise.withResolvers<{ url: string }>()
  const bootstrap = await world.bootstrapPath(`${token.id}.${token.secret}`)
  const ended = run(bootstrap, ready.resolve, stop.signal, 0)
  await Promise.race([ready.promise, ended])
  const { port } = new URL(server.url)
  // Nothing responds at the other address, so the server with which it joined is still used.
  const servers = [{ address: '192.0.2.7', port: Number(port) }]
  await bindNetworkAgents(admin, ctx)
  await admin.of(endpointSlice).create(
    {
      metadata: { name: 'kubernetes-1', labels: { 'kubernetes.io/service-name': 'kubernetes' } },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['192.0.2.7'] }],
      ports: [{ name: 'https', port: Number(port) }],
    },
    'default',
    ctx,
  )
  const path = join(directory, 'data', 'servers.json')
  const kept = () => readFile(path, 'utf8').catch(() => '')
  while ((await kept()) === '') await realClock.sleep(10, ctx.signal)
  deepEqual(JSON.parse(await kept()), { servers })
  stop.abort()
  await ended

  const taken = await nodeSockets.listenStreams({
    host: '127.0.0.1',
    port: 0,
    connectionsMax: 1,
    connectionsPerClientMax: 1,
    onConnection: (stream) => stream.destroy(),
  })
  await rejects(
    run(undefined, () => {}, ctx.signal, taken.port),
    /cannot listen on 127\.0\.0\.1:\d+ for the API servers; use --lb-server-port/,
  )
  await taken.close()
  await writeFile(path, '{}', { mode: 0o600 })
  const again = new AbortController()
  await run(undefined, () => again.abort(), again.signal, 0)
})
