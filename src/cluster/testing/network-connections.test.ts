// Connections between simulated pods: partitions, slow links, ends, recorded ones, and those that programs open.
import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { pod } from '../../api/core/v1/pod/pod.ts'
import { service } from '../../api/core/v1/service/service.ts'
import { startCluster } from './start-cluster.ts'
import type { SimulatedProgram } from '../../machine/runtime/simulated-runtime.ts'
import { serveUntilTerminated } from '../../machine/runtime/simulated-runtime.ts'
import { images, serviceOf, start, textOf, untilReady, workload } from './network.harness.ts'

test('a partition stops requests, and the application recovers when it is removed', async () => {
  await using cluster = await start({ nodes: 2 })
  await cluster.apply([
    workload('api', 'api', { spec: { nodeName: 'node-0' } }),
    serviceOf('api', 80, 8080),
    workload('db', 'database', { kind: 'StatefulSet', spec: { nodeName: 'node-1' } }),
    serviceOf('db', 5432, 5432, { clusterIP: 'None' }),
  ])
  await untilReady(cluster, 'api', 1)
  await untilReady(cluster, 'db', 1)
  const partition = cluster.faults.partition([['node/node-0'], ['node/node-1']])
  const signal = AbortSignal.any([])
  const beforeMs = cluster.clock.nowMs()
  const failed = await cluster.network.fetch('http://api/x', { method: 'PUT', body: '1', from: 'node/node-0', signal })
  deepEqual([failed.status, cluster.clock.nowMs() - beforeMs], [500, 127_000])
  partition.remove()
  const stored = await cluster.network.fetch('http://api/x', { method: 'PUT', body: '1', from: 'node/node-0' })
  equal(await stored.text(), 'db-0=1')
})

test('slow and lossy links take time, equally for the same seed', async () => {
  const run = async () => {
    await using cluster = await start({ nodes: 2, seed: 7 })
    await cluster.apply([workload('web', 'whoami'), serviceOf('web', 80, 8080)])
    await untilReady(cluster, 'web', 1)
    const tookMs = async () => {
      const beforeMs = cluster.clock.nowMs()
      await textOf(cluster, 'http://web/')
      return cluster.clock.nowMs() - beforeMs
    }
    const quick = await tookMs()
    cluster.faults.slowLink({ to: 'service/web', ms: 200 })
    const slow = await tookMs()
    cluster.faults.dropLink({ from: 'service/web', share: 0.5 })
    const lossy = [await tookMs(), await tookMs(), await tookMs(), await tookMs()]
    cluster.faults.heal()
    return { quick, slow, lossy, healed: await tookMs() }
  }
  const found = await run()
  deepEqual([found.quick, found.slow, found.healed], [0, 400, 0])
  ok(Math.max(...found.lossy) > 400, String(found.lossy))
  deepEqual(await run(), found)
})

test('connections break when their pod is deleted or its node loses power', async () => {
  const hang: SimulatedProgram = (process) => {
    process.serveHttp(8080, () => new Promise(() => {}))
    return serveUntilTerminated(process)
  }
  const results: string[] = []
  const caller: SimulatedProgram = async (process) => {
    while (!process.terminated.aborted) {
      const startMs = process.clock.nowMs()
      const error = await process.fetch('http://web/').catch((each: Error) => each)
      results.push(`${process.clock.nowMs() - startMs} ${String(error)}`)
      await process.clock.sleep(1_000, process.terminated).catch(() => {})
    }
    return 0
  }
  await using cluster = await startCluster({ nodes: 2, simulation: { images: { hang, caller } } })
  await cluster.apply([workload('web', 'hang', { spec: { nodeName: 'node-1' } }), serviceOf('web', 80, 8080)])
  const [web] = await untilReady(cluster, 'web', 1)
  await cluster.apply(workload('caller', 'caller', { spec: { nodeName: 'node-0' } }))
  await cluster.clock.advance('10s')
  deepEqual(results, [])
  await cluster.client.of(pod).delete(web?.metadata.name ?? '')
  await cluster.clock.advance('5s')
  match(results.join(), /^1\d{4} Error: EOF$/)
  await cluster.powerOff('node-1')
  await cluster.clock.advance('1m')
  equal(results.length, 1)
  await cluster.clock.advance('2m')
  match(results[1] ?? '', /NetworkError: tcp 10\.\d+\.\d+\.\d+:80: connection timed out$/)
  await rejects(textOf(cluster, 'http://192.0.2.2:8080/'), { code: 'EHOSTUNREACH' })
})

test('a call that does not end fails with what it waits for', async () => {
  const hang: SimulatedProgram = (process) => {
    process.serveHttp(8080, () => new Promise(() => {}))
    return serveUntilTerminated(process)
  }
  await using cluster = await startCluster({ simulation: { images: { hang } } })
  await cluster.apply([workload('web', 'hang'), serviceOf('web', 80, 8080)])
  await untilReady(cluster, 'web', 1)
  await rejects(cluster.network.fetch('http://web/'), {
    message:
      "GET http://web/ did not end within 1h of the cluster's time: a connection to web:80 was established, but the response is not complete",
  })
})

test('connections carry bytes both ways', async () => {
  const echo: SimulatedProgram = (process) => {
    process.listen(7, async (connection) => {
      for await (const piece of connection.pieces) await connection.write(piece)
      connection.end()
    })
    return serveUntilTerminated(process)
  }
  await using cluster = await startCluster({ simulation: { images: { echo } } })
  await cluster.apply([workload('echo', 'echo'), serviceOf('echo', 7, 7)])
  await untilReady(cluster, 'echo', 1)
  const connection = await cluster.network.connect('echo', 7)
  await connection.write(new TextEncoder().encode('hello'))
  connection.end()
  let text = ''
  for await (const piece of connection.pieces) text += new TextDecoder().decode(piece)
  equal(text, 'hello')
})

test('connections are recorded on request, as flow events of the Service', async () => {
  await using cluster = await start()
  await cluster.apply([workload('web', 'whoami'), serviceOf('web', 80, 8080)])
  const [web] = await untilReady(cluster, 'web', 1)
  await textOf(cluster, 'http://web/')
  ok(!cluster.flow(service, 'web').includes('connect'))
  cluster.network.recordsConnections = true
  equal(cluster.network.recordsConnections, true)
  await rejects(textOf(cluster, 'http://web:81/', 'node/node-0'), { code: 'ECONNREFUSED' })
  await textOf(cluster, `http://${web?.status.podIP}:8080/`)
  await textOf(cluster, 'http://web/', `pod/${web?.metadata.name}`)
  match(
    cluster.flow(service, 'web'),
    /pod\/default\/web-\S+ ──► pod\/default\/web-\S+: connect 10\.\d+\.\d+\.\d+:80 web → connected/,
  )
})

test('programs resolve names and open connections; a program in the network of its node has its address', async () => {
  const lines: string[] = []
  const client: SimulatedProgram = async (process) => {
    lines.push(process.pod.address, (await process.resolve('web.default.svc')).join())
    const connection = await process.connect('web.default.svc', 80)
    await connection.write(new TextEncoder().encode('GET / HTTP/1.0\r\n\r\n'))
    let text = ''
    for await (const piece of connection.pieces) text += new TextDecoder().decode(piece)
    lines.push(text.split('\r\n\r\n')[1] ?? '')
    return serveUntilTerminated(process)
  }
  await using cluster = await startCluster({ simulation: { images: { ...images, client } } })
  await cluster.apply([workload('web', 'whoami'), serviceOf('web', 80, 8080)])
  const [web] = await untilReady(cluster, 'web', 1)
  const { clusterIP } = (await cluster.client.of(service).get('web')).spec
  const ownNetwork = { hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet' }
  await cluster.apply(workload('client', 'client', { spec: ownNetwork }))
  await untilReady(cluster, 'client', 1)
  deepEqual(lines, ['192.0.2.1', clusterIP, `${web?.metadata.name} 192.0.2.1`])
})

test('calls work while time flows', async () => {
  await using cluster = await startCluster({ simulation: { images }, time: 'flowing', https: false })
  await cluster.apply([workload('web', 'whoami'), serviceOf('web', 80, 8080)])
  await untilReady(cluster, 'web', 1)
  match(await textOf(cluster, 'http://web/'), /^web-/)
})
