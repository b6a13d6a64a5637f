// The metrics of the allocators of Services, as upstream counts the same writes.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { startServer, type Harness } from '../server.harness.ts'

const services = '/api/v1/namespaces/default/services'

async function allocatorLines(server: Harness): Promise<string[]> {
  const { body } = await server.call('GET', '/metrics')
  return (body as string)
    .split('\n')
    .filter((line) => /^kube_apiserver_\w+_allocator_/.test(line) && !/_(bucket|sum)/.test(line))
    .map((line) => line.replace('kube_apiserver_', '').replace('_allocator', ''))
}

const create = async (server: Harness, name: string, spec: object, query = ''): Promise<number> =>
  (await server.call('POST', `${services}${query}`, { metadata: { name }, spec })).status

test('allocations are counted by range and by who chose the value, and what is allocated is counted', async () => {
  await using server = await startServer()
  const ports = [
    { name: 'a', port: 80 },
    { name: 'b', port: 81, nodePort: 31_111 },
  ]
  equal(await create(server, 'both', { type: 'NodePort', ports }), 201)
  equal(await create(server, 'fixed', { clusterIP: '10.96.0.77', ports: [{ port: 80 }] }), 201)
  equal(await create(server, 'same-ip', { clusterIP: '10.96.0.77', ports: [{ port: 80 }] }), 422)
  equal(await create(server, 'same-port', { type: 'NodePort', ports: [{ port: 80, nodePort: 31_111 }] }), 422)
  equal(await create(server, 'dry', { type: 'NodePort', ports: [{ port: 80 }] }, '?dryRun=All'), 201)
  const cidr = 'cidr="10.96.0.0/12"'
  const counted = [
    `clusterip_allocation_duration_seconds_count{${cidr}} 3`,
    `clusterip_allocation_errors_total{${cidr},scope="static"} 1`,
    `clusterip_allocation_total{${cidr},scope="dynamic"} 2`,
    `clusterip_allocation_total{${cidr},scope="static"} 1`,
  ]
  const portsCounted = [
    'nodeport_allocation_errors_total{scope="static"} 1',
    'nodeport_allocation_total{scope="dynamic"} 1',
    'nodeport_allocation_total{scope="static"} 1',
  ]
  deepEqual((await allocatorLines(server)).toSorted(), [
    `clusterip_allocated_ips{${cidr}} 2`,
    ...counted,
    `clusterip_available_ips{${cidr}} 1048572`,
    'nodeport_allocated_ports 2',
    ...portsCounted,
    'nodeport_available_ports 2766',
  ])
  await server.call('DELETE', `${services}/both`)
  deepEqual(
    (await allocatorLines(server)).filter((line) => /_(allocated|available)_/.test(line)),
    [
      `clusterip_allocated_ips{${cidr}} 1`,
      `clusterip_available_ips{${cidr}} 1048573`,
      'nodeport_allocated_ports 0',
      'nodeport_available_ports 2768',
    ],
  )
})

test('a ServiceCIDR has series of its own until it is deleted', async () => {
  await using server = await startServer()
  const ranges = '/apis/networking.k8s.io/v1/servicecidrs'
  const conditions = [
    { type: 'Ready', status: 'True', lastTransitionTime: '2030-01-01T00:00:00Z', reason: '', message: '' },
  ]
  for (const [name, cidr] of Object.entries({ small: '10.200.0.0/30', six: 'fd00::/112' })) {
    equal((await server.call('POST', ranges, { metadata: { name }, spec: { cidrs: [cidr] } })).status, 201)
    equal((await server.call('PATCH', `${ranges}/${name}/status`, { status: { conditions } }, merge)).status, 200)
  }
  const available = async () =>
    (await allocatorLines(server)).filter((line) => line.startsWith('clusterip_available')).toSorted()
  deepEqual(await available(), [
    'clusterip_available_ips{cidr="10.200.0.0/30"} 2',
    'clusterip_available_ips{cidr="fd00::/112"} 65535',
  ])
  const spec = { ports: [{ port: 80 }] }
  deepEqual([await create(server, 'a', spec), await create(server, 'b', spec)], [201, 201])
  equal(await create(server, 'full', spec), 500)
  equal(
    (await allocatorLines(server)).includes(
      'clusterip_allocation_errors_total{cidr="10.200.0.0/30",scope="dynamic"} 1',
    ),
    true,
  )
  equal((await server.call('DELETE', `${ranges}/six`)).status, 200)
  deepEqual(await available(), ['clusterip_available_ips{cidr="10.200.0.0/30"} 0'])
})

const merge = { 'content-type': 'application/merge-patch+json' }
