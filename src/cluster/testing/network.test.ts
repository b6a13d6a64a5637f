// Applications of several services in simulated pods: names, Services, readiness, affinity, policies and updates.
import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { deployment } from '../../api/apps/v1/deployment.ts'
import { pod } from '../../api/core/v1/pod/pod.ts'
import { service } from '../../api/core/v1/service/service.ts'
import { startCluster } from './start-cluster.ts'
import type { SimulatedProgram } from '../../machine/runtime/simulated-runtime.ts'
import { serveUntilTerminated } from '../../machine/runtime/simulated-runtime.ts'
import { podsBehind, serviceOf, start, textOf, untilReady, workload } from './network.harness.ts'

test('a request passes three services and the database keeps its value', async () => {
  await using cluster = await start({ nodes: 3 })
  await cluster.apply([
    workload('frontend', 'frontend', { replicas: 2 }),
    serviceOf('frontend', 80, 80),
    workload('api', 'api', { replicas: 2 }),
    serviceOf('api', 80, 8080),
    workload('db', 'database', { kind: 'StatefulSet' }),
    serviceOf('db', 5432, 5432, { clusterIP: 'None' }),
  ])
  await untilReady(cluster, 'frontend', 2)
  await untilReady(cluster, 'db', 1)
  await untilReady(cluster, 'api', 2)
  const put = await cluster.network.fetch('http://frontend/answer', { method: 'PUT', body: '42' })
  equal(put.status, 200)
  equal(await textOf(cluster, 'http://frontend.default.svc.cluster.local/answer'), 'api says db-0=42')
  equal((await cluster.network.fetch('http://frontend/missing')).status, 404)
})

test('names resolve as in a pod: short, qualified, headless, of a StatefulSet, and unknown ones', async () => {
  await using cluster = await start()
  await cluster.apply([
    workload('web', 'whoami'),
    serviceOf('web', 80, 8080),
    workload('db', 'database', { kind: 'StatefulSet', replicas: 2 }),
    serviceOf('db', 5432, 5432, { clusterIP: 'None' }),
  ])
  const [web] = await untilReady(cluster, 'web', 1)
  const dbs = await untilReady(cluster, 'db', 2)
  const from = `pod/${web?.metadata.name}`
  const { clusterIP = '' } = (await cluster.client.of(service).get('web')).spec
  for (const name of ['web', 'web.default', 'web.default.svc', 'web.default.svc.cluster.local', 'WEB.'])
    if (name === 'WEB.') await rejects(cluster.network.resolve(name, { from }), { code: 'ENOTFOUND' })
    else deepEqual(await cluster.network.resolve(name, { from }), [clusterIP])
  const addresses = dbs.map(({ status }) => status.podIP ?? '')
  deepEqual((await cluster.network.resolve('db', { from })).toSorted(), addresses.toSorted())
  const second = dbs.find(({ metadata }) => metadata.name === 'db-1')
  deepEqual(await cluster.network.resolve('db-1.db', { from }), [second?.status.podIP])
  await rejects(cluster.network.resolve('web.blue', { from }), {
    code: 'ENOTFOUND',
    message: 'lookup web.blue on 10.96.0.10:53: no such host',
  })
})

test('a pod with the DNS policy Default does not know the names of the cluster', async () => {
  await using cluster = await start()
  await cluster.apply([
    workload('web', 'whoami'),
    serviceOf('web', 80, 8080),
    workload('own', 'whoami', { spec: { dnsPolicy: 'Default' } }),
  ])
  await untilReady(cluster, 'web', 1)
  const [own] = await untilReady(cluster, 'own', 1)
  await rejects(textOf(cluster, 'http://web/', `pod/${own?.metadata.name}`), { code: 'ENOTFOUND' })
})

test('an ExternalName Service leads to a host outside the cluster', async () => {
  await using cluster = await start()
  const address = cluster.network.addHost('pay.example.com', {
    80: ({ headers, remoteAddress }) => ({ status: 200, body: `${headers['host']} ${remoteAddress}` }),
  })
  await cluster.apply([
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'pay' },
      spec: { type: 'ExternalName', externalName: 'pay.example.com' },
    },
    workload('web', 'whoami'),
  ])
  const [web] = await untilReady(cluster, 'web', 1)
  const from = `pod/${web?.metadata.name}`
  deepEqual(await cluster.network.resolve('pay', { from }), [address])
  equal(await textOf(cluster, 'http://pay/', from), 'pay 192.0.2.1')
  await rejects(textOf(cluster, 'http://pay:81/', from), { code: 'ECONNREFUSED' })
})

test('requests are spread over ready pods; without endpoints they are refused immediately', async () => {
  await using cluster = await start({ nodes: 2 })
  const readinessProbe = { httpGet: { path: '/', port: 8080 }, periodSeconds: 1, failureThreshold: 1 }
  await cluster.apply([
    workload('web', 'whoami', { replicas: 3, container: { readinessProbe } }),
    serviceOf('web', 80, 8080),
  ])
  const pods = await untilReady(cluster, 'web', 3)
  deepEqual(await podsBehind(cluster, 'http://web/'), pods.map(({ metadata }) => metadata.name).toSorted())
  await cluster.client.of(deployment).patch('web', { spec: { replicas: 0 } })
  await untilReady(cluster, 'web', 0)
  const beforeMs = cluster.clock.nowMs()
  await rejects(textOf(cluster, 'http://web/'), { code: 'ECONNREFUSED' })
  equal(cluster.clock.nowMs(), beforeMs)
})

test('a pod that is not ready gets no requests until it is ready again', async () => {
  const broken = new Set<string>()
  const flaky: SimulatedProgram = (process) => {
    process.serveHttp(8080, ({ path }) => ({
      status: path === '/ready' && broken.has(process.pod.name) ? 503 : 200,
      body: process.pod.name,
    }))
    return serveUntilTerminated(process)
  }
  await using cluster = await startCluster({ simulation: { images: { flaky } } })
  const readinessProbe = { httpGet: { path: '/ready', port: 8080 }, periodSeconds: 1, failureThreshold: 2 }
  await cluster.apply([
    workload('web', 'flaky', { replicas: 2, container: { readinessProbe } }),
    serviceOf('web', 80, 8080),
  ])
  const [one, other] = (await untilReady(cluster, 'web', 2)).map(({ metadata }) => metadata.name).toSorted()
  broken.add(one ?? '')
  await cluster.clock.advance('5s')
  deepEqual(await podsBehind(cluster, 'http://web/'), [other])
  broken.clear()
  await cluster.clock.advance('5s')
  deepEqual(await podsBehind(cluster, 'http://web/'), [one, other])
})

test('session affinity keeps the pod of a client until its timeout', async () => {
  await using cluster = await start()
  const affinity = { sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 60 } } }
  await cluster.apply([workload('web', 'whoami', { replicas: 4 }), serviceOf('web', 80, 8080, affinity)])
  await untilReady(cluster, 'web', 4)
  const kept = await podsBehind(cluster, 'http://web/')
  equal(kept.length, 1)
  const seen = new Set(kept)
  for (let each = 0; each < 10; each++) {
    await cluster.clock.advance('61s')
    for (const name of await podsBehind(cluster, 'http://web/', undefined, 3)) seen.add(name)
  }
  ok(seen.size > 1, 'after the timeout a client may get another pod')
  await cluster.client.of(pod).delete(kept[0] ?? '')
  await untilReady(cluster, 'web', 4)
  ok(!(await podsBehind(cluster, 'http://web/')).includes(kept[0] ?? ''))
})

test('node ports and load balancer addresses are reachable from outside; cluster IPs and pods are not', async () => {
  await using cluster = await start({ nodes: 2 })
  await cluster.apply([
    workload('web', 'whoami', { replicas: 2 }),
    serviceOf('web', 80, 8080, { type: 'LoadBalancer', ports: [{ port: 80, targetPort: 8080, nodePort: 30080 }] }),
  ])
  const [web] = await untilReady(cluster, 'web', 2)
  const balancer = cluster.client.of(service)
  await balancer.updateStatus({
    ...(await balancer.get('web')),
    status: { loadBalancer: { ingress: [{ ip: '203.0.113.80' }] } },
  })
  await cluster.clock.settle()
  match(await textOf(cluster, 'http://192.0.2.2:30080/', 'outside'), /^web-.* 192\.0\.2\.2$/)
  match(await textOf(cluster, 'http://203.0.113.80/', 'outside'), /^web-.* 192\.0\.2\.[12]$/)
  for (const url of ['http://web/', `http://${web?.status.podIP}:8080/`])
    await rejects(textOf(cluster, url, 'outside'), {
      code: 'ENETUNREACH',
      message: /network is unreachable; cluster IPs and pods are reachable from pods and nodes only/,
    })
})

test('with the policy Local, a node without endpoints drops packets and others preserve the address of the client', async () => {
  await using cluster = await start({ nodes: 2 })
  const external = {
    type: 'NodePort',
    externalTrafficPolicy: 'Local',
    ports: [{ port: 80, targetPort: 8080, nodePort: 30080 }],
  }
  await cluster.apply([
    workload('web', 'whoami', { spec: { nodeName: 'node-0' } }),
    serviceOf('web', 80, 8080, external),
    {
      ...serviceOf('near', 80, 8080, { internalTrafficPolicy: 'Local' }),
      spec: { ...serviceOf('web', 80, 8080).spec, internalTrafficPolicy: 'Local' },
    },
  ])
  const [web] = await untilReady(cluster, 'web', 1)
  equal(await textOf(cluster, 'http://192.0.2.1:30080/', 'outside'), `${web?.metadata.name} 203.0.113.1`)
  const beforeMs = cluster.clock.nowMs()
  await rejects(textOf(cluster, 'http://192.0.2.2:30080/', 'outside'), { code: 'ETIMEDOUT' })
  equal(cluster.clock.nowMs() - beforeMs, 127_000)
  equal(await textOf(cluster, 'http://near/', 'node/node-0'), `${web?.metadata.name} 192.0.2.1`)
  await rejects(textOf(cluster, 'http://near/', 'node/node-1'), { code: 'ETIMEDOUT' })
})

test('a pod reaches itself by localhost and by its Service, and pods see the addresses of pods', async () => {
  await using cluster = await start({ nodes: 2 })
  await cluster.apply([
    workload('web', 'whoami', { spec: { nodeName: 'node-0' } }),
    serviceOf('web', 80, 8080),
    workload('client', 'whoami', { spec: { nodeName: 'node-1' } }),
  ])
  const [web] = await untilReady(cluster, 'web', 1)
  const [client] = await untilReady(cluster, 'client', 1)
  const name = web?.metadata.name
  equal(await textOf(cluster, 'http://localhost:8080/', `pod/${name}`), `${name} ${web?.status.podIP}`)
  equal(await textOf(cluster, 'http://web/', `pod/${name}`), `${name} 192.0.2.1`)
  equal(await textOf(cluster, 'http://web/', `pod/${client?.metadata.name}`), `${name} ${client?.status.podIP}`)
})

test('a rolling update loses no request', async () => {
  const slow: SimulatedProgram = (process) => {
    process.serveHttp(8080, async () => {
      await process.clock.sleep(300, new AbortController().signal)
      return { status: 200, body: process.environment['VERSION'] ?? '' }
    })
    return serveUntilTerminated(process)
  }
  const results: string[] = []
  const load: SimulatedProgram = async (process) => {
    const one = async () => {
      const response = await process.fetch('http://web/').catch((error: Error) => error)
      results.push(response instanceof Error ? response.message : await response.text())
    }
    while (!process.terminated.aborted) {
      void one()
      await process.clock.sleep(50, process.terminated).catch(() => {})
    }
    return 0
  }
  await using cluster = await startCluster({ nodes: 2, simulation: { images: { slow, load }, startMs: 700 } })
  const web = (version: string) =>
    workload('web', 'slow', {
      replicas: 3,
      container: {
        env: [{ name: 'VERSION', value: version }],
        readinessProbe: { tcpSocket: { port: 8080 }, periodSeconds: 1 },
        lifecycle: { preStop: { sleep: { seconds: 2 } } },
      },
    })
  await cluster.apply([web('1'), serviceOf('web', 80, 8080)])
  await untilReady(cluster, 'web', 3)
  await cluster.apply(workload('load', 'load'))
  await untilReady(cluster, 'load', 1)
  await cluster.clock.advance('5s')
  await cluster.apply(web('2'), { force: true })
  await cluster.until(async () => {
    const { status, metadata } = await cluster.client.of(deployment).get('web')
    return status.observedGeneration === metadata.generation && status.updatedReplicas === 3 && status.replicas === 3
  })
  await cluster.clock.advance('10s')
  deepEqual([...new Set(results)].toSorted(), ['1', '2'])
  ok(results.length > 300, `${results.length} requests`)
  equal(results.at(-1), '2')
})

test('ports of the node are reachable: of pods in its network and host ports', async () => {
  await using cluster = await start()
  await cluster.apply([
    workload('own', 'whoami', { spec: { hostNetwork: true } }),
    workload('shared', 'database', { container: { ports: [{ containerPort: 5432, hostPort: 9000 }] } }),
  ])
  await untilReady(cluster, 'own', 1)
  await untilReady(cluster, 'shared', 1)
  match(await textOf(cluster, 'http://192.0.2.1:8080/', 'outside'), /^own-\S+ 203\.0\.113\.1$/)
  equal((await cluster.network.fetch('http://192.0.2.1:9000/missing', { from: 'outside' })).status, 404)
  await rejects(textOf(cluster, 'http://192.0.2.1:81/'), { code: 'ECONNREFUSED' })
})

test('clients are validated', async () => {
  await using cluster = await start()
  const fetchFrom = (from: string) => cluster.network.fetch('http://web/', { from })
  await rejects(fetchFrom('pod/missing'), /there is no pod missing in namespace default/)
  await rejects(fetchFrom('node/node-9'), /there is no simulated node node-9/)
  await cluster.client
    .of(pod)
    .create({ metadata: { name: 'new' }, spec: { containers: [{ name: 'c', image: 'missing' }] } })
  await rejects(fetchFrom('pod/new'), /pod default\/new is not running: Pending/)
  await rejects(fetchFrom('service/web'), /a Service does not open connections/)
  await rejects(fetchFrom('web'), /"web" is not a place in the network/)
  await cluster.powerOff('node-0')
  await rejects(cluster.network.resolve('web'), /no node is on/)
})

test('the network works again after a restore', async () => {
  await using cluster = await start()
  await cluster.apply([workload('web', 'whoami'), serviceOf('web', 80, 8080)])
  await untilReady(cluster, 'web', 1)
  await textOf(cluster, 'http://web/')
  await cluster.restore(cluster.snapshot())
  await cluster.clock.advance('1m')
  match(await textOf(cluster, 'http://web/'), /^web-/)
})
