// Flow 13: a pod gets an address from its node's range with its sandbox, and releases it with the sandbox. test/kubelet
// tests the plugins with real containers.
import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { context, event, pod, startCluster } from '../../src/cluster/index.ts'
import { comparePage, excerpt, inOrder, since } from './page.ts'

const ctx = context(new AbortController().signal)

test('13 pod network', async () => {
  // Five addresses: eight without the network address, the gateway and the broadcast address.
  await using cluster = await startCluster({ simulation: { podRange: () => '10.9.0.0/29' } })
  const { client, clock } = cluster
  const pods = client.of(pod)
  const create = async (name: string) => {
    const spec = { containers: [{ name: 'c', image: 'i' }], terminationGracePeriodSeconds: 1 }
    await pods.create({ metadata: { name }, spec }, 'default', ctx)
    await clock.advance('5s')
  }
  const addressOf = async (name: string) => (await pods.get(name, 'default', ctx)).status.podIP
  for (const name of ['a', 'b', 'c', 'd', 'e']) await create(name)
  const given = await Promise.all(['a', 'b', 'c', 'd', 'e'].map(addressOf))
  deepEqual(given, ['10.9.0.2', '10.9.0.3', '10.9.0.4', '10.9.0.5', '10.9.0.6'])
  const flow = cluster.flow(pod, 'a')
  inOrder(flow, /kubelet\/node-0 ──► Runtime: run sandbox a/, /kubelet\/node-0 ──► Runtime: start container c/)
  match(flow, /kubelet\/node-0 ──► API Server: patch pods\/status a → 200/)

  await create('late')
  equal(await addressOf('late'), undefined)
  const recorded = (await client.of(event).list({ fieldSelector: 'involvedObject.name=late' }, ctx)).items
  match(
    recorded.map(({ reason, message }) => `${reason}: ${message}`).join('\n'),
    /^FailedCreatePodSandBox: Failed to create pod sandbox: no address is left in the range 10\.9\.0\.0\/29/m,
  )
  await pods.delete('c', 'default', {}, ctx)
  await clock.advance('2m')
  equal(await addressOf('late'), '10.9.0.4', 'what one gives back another gets')
  const gone = since(cluster.flow(pod, 'c'), 'delete pods c')
  const waited = since(cluster.flow(pod, 'late'), 'test ──► API Server')

  await cluster.kill('kubelet/node-0')
  cluster.start('kubelet/node-0')
  await clock.advance('1m')
  deepEqual(await Promise.all(['a', 'b', 'late'].map(addressOf)), ['10.9.0.2', '10.9.0.3', '10.9.0.4'])
  await pods.delete('a', 'default', {}, ctx)
  await clock.advance('1m')
  await create('next')
  equal(await addressOf('next'), '10.9.0.2', 'a kubelet that starts again leaks no address')

  const steps = [/test ──► API Server/, /Runtime: (run|stop|remove) sandbox/, /patch pods\/status/, /put pod/]
  await comparePage(
    '13-pod-network',
    'Pod network',
    [
      {
        heading: 'A pod gets its address',
        text: "The runtime creates the sandbox and calls the network plugins, which assign an address from the node's range; the kubelet reports it in the status. No arrow leads to the plugins, because the runtime calls them.",
        diagram: excerpt(flow, ...steps),
      },
      {
        heading: 'The address is released',
        text: 'The address is released with the sandbox; the next pod may get it.',
        diagram: excerpt(gone, ...steps, /delete pods c/, /delete pod c/),
      },
      {
        heading: 'The range is exhausted',
        text: 'The sandbox fails and is retried with increasing delays until another pod releases its address.',
        diagram: excerpt(waited, ...steps),
      },
    ],
    [
      [
        'a plugin is missing',
        'the sandbox fails with the name of the plugin and is retried until the plugin exists',
        'test/kubelet/network.test.ts',
      ],
      [
        'the node has no network yet',
        'its pods wait until the network is ready',
        'src/kubelet/node/runtime-health-monitor.test.ts',
      ],
      [
        'the kubelet or the whole node restarts',
        'no address is leaked',
        'test/flows/13-pod-network.test.ts',
        'test/kubelet/network.test.ts',
      ],
    ],
  )
})
