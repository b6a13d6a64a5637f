// Requests and limits in the kernel: the limits of a container and of its pod.
import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { NodeCgroups } from '../../src/machine/cgroups/node-cgroups.ts'
import type { Summary } from '../../src/kubelet/stats/summary.ts'
import { until, untilMatch } from '../until.ts'
import { inNamespaces } from './namespaces.ts'
import { startRealUp, type RealUp } from './up.harness.ts'

const podOf = (name: string, image: string, container: object, more: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: { terminationGracePeriodSeconds: 1, containers: [{ name: 'c', image, ...container }], ...more },
})

const fieldOf = (up: RealUp, pod: string, path: string) => up.k(['get', 'pod', pod, '-o', `jsonpath={${path}}`])

inNamespaces(import.meta.url, () => {
  test('limits are set in the cgroups of the container and of its pod, which are removed with the pod', async () => {
    await using up = await startRealUp('--kube-reserved', 'cpu=100m,memory=256Mi')
    const cgroups = await NodeCgroups.open()
    const greedy = { command: ['/bin/sh', '-c', 'x=a; while true; do x=$x$x; done'] }
    await up.apply(
      podOf('limited', up.image, { resources: { limits: { cpu: '250m', memory: '32Mi' } } }),
      podOf('burstable', up.image, { resources: { requests: { cpu: '100m' } } }),
      podOf('greedy', up.image, { ...greedy, resources: { limits: { memory: '16Mi' } } }, { restartPolicy: 'Never' }),
    )
    await up.k(['wait', 'pod/limited', 'pod/burstable', '--for=condition=Ready', '--timeout=200s'])
    const uid = await fieldOf(up, 'limited', '.metadata.uid')
    const id = (await fieldOf(up, 'limited', '.status.containerStatuses[0].containerID')).replace('containerd://', '')
    const wanted = { cpuShares: 256, cpuPeriodUs: 100_000, cpuQuotaUs: 25_000, memoryBytes: 32 << 20 }
    const group = `${up.cgroupRoot}/pod${uid}`
    deepEqual([await cgroups.limits(group), await cgroups.limits(`${group}/${id}`)], [wanted, wanted])
    equal((await cgroups.usage(group))?.processes !== 0, true)
    equal((await cgroups.limits(`${up.cgroupRoot}/burstable`))?.cpuShares, 102)

    const [node = ''] = (await up.k(['get', 'nodes', '-o', 'name'])).split('\n')
    const { capacity, allocatable } = JSON.parse(await up.k(['get', node, '-o', 'jsonpath={.status}'])) as {
      capacity: Record<string, string>
      allocatable: Record<string, string>
    }
    equal(Number(capacity['cpu']) * 1000 - Number.parseInt(allocatable['cpu'] ?? ''), 100)
    equal(
      Number.parseInt(capacity['memory'] ?? '') - Number.parseInt(allocatable['memory'] ?? ''),
      (256 + 100) * 1024,
      'the reservation and the threshold of eviction',
    )

    // Usage is cached for two seconds, so that of a pod which has just started may be missing.
    const shown = (...args: string[]) => up.k(args).catch(() => '')
    const nodeLine = new RegExp(`${node.replace('node/', '')} +\\d+m +\\d+% +\\d+Mi +\\d+%`)
    await untilMatch(() => shown('top', 'node'), nodeLine)
    await untilMatch(() => shown('top', 'pod', '--containers'), /^limited +c +\d+m +\d+Mi/m)
    const nodePath = `/api/v1/nodes/${node.replace('node/', '')}/proxy`
    await untilMatch(
      () => shown('get', '--raw', `${nodePath}/metrics/resource`),
      /^container_memory_working_set_bytes\{container="c",namespace="default",pod="limited"\} [1-9]\d* \d+$/m,
    )
    const summaryText = await untilMatch(() => shown('get', '--raw', `${nodePath}/stats/summary`), /"name": ?"limited"/)
    const summary = JSON.parse(summaryText) as Summary
    const seen = summary.pods.find(({ podRef }) => podRef.name === 'limited')
    equal(seen?.network?.name, 'eth0')
    const { imageFs, containerFs } = summary.node.runtime
    for (const fs of [imageFs, containerFs, seen?.['ephemeral-storage']]) equal((fs?.capacityBytes ?? 0) > 0, true)
    match(
      await up.k(['get', '--raw', `${nodePath}/metrics/cadvisor`]),
      /^container_network_receive_bytes_total\{interface="eth0",namespace="default",pod="limited"\} \d+ \d+$/m,
    )

    await until(async () => (await fieldOf(up, 'greedy', '.status.phase')) === 'Failed')
    const ended = '.status.containerStatuses[0].state.terminated'
    equal(await fieldOf(up, 'greedy', `${ended}.reason`), 'OOMKilled')
    equal(await fieldOf(up, 'greedy', `${ended}.exitCode`), '137')

    await up.k(['delete', 'pod', '--all', '--timeout=200s'])
    const groups = [...(await cgroups.list(up.cgroupRoot)), ...(await cgroups.list(`${up.cgroupRoot}/burstable`))]
    deepEqual(groups.toSorted(), ['besteffort', 'burstable'])
    match(await up.k(['get', 'pods'], {}), /^$/)
  })

  test('a resize changes limits without a restart, with one if the policy requires it, or is deferred with a reason', async () => {
    await using up = await startRealUp()
    const cgroups = await NodeCgroups.open()
    // Small enough for a machine with one core to have all of it at once.
    const resources = { limits: { cpu: '100m', memory: '32Mi' } }
    const resizePolicy = [{ resourceName: 'memory', restartPolicy: 'RestartContainer' }]
    await up.apply(
      podOf('smooth', up.image, { resources }),
      podOf('abrupt', up.image, { resources, resizePolicy }),
      podOf('huge', up.image, { resources }),
    )
    await up.k(['wait', 'pod', '--all', '--for=condition=Ready', '--timeout=200s'])
    const resize = (name: string, cpu: string, memory: string) => {
      const amounts = { cpu, memory }
      const containers = [{ name: 'c', resources: { requests: amounts, limits: amounts } }]
      return up.k(['patch', 'pod', name, '--subresource=resize', '-p', JSON.stringify({ spec: { containers } })])
    }
    const first = '.status.containerStatuses[0]'
    const idOf = async (name: string) => (await fieldOf(up, name, `${first}.containerID`)).replace('containerd://', '')
    const groupsOf = async (name: string) => {
      const group = `${up.cgroupRoot}/pod${await fieldOf(up, name, '.metadata.uid')}`
      return [await cgroups.limits(group), await cgroups.limits(`${group}/${await idOf(name)}`)]
    }
    const resourcesOf = async (name: string) =>
      [await fieldOf(up, name, `${first}.resources.limits`), await fieldOf(up, name, `${first}.restartCount`)].join(' ')
    const before = await idOf('smooth')
    const wanted = { cpuShares: 204, cpuPeriodUs: 100_000, cpuQuotaUs: 20_000, memoryBytes: 64 << 20 }

    await resize('smooth', '200m', '64Mi')
    await until(async () => (await resourcesOf('smooth')) === '{"cpu":"200m","memory":"64Mi"} 0')
    deepEqual([await groupsOf('smooth'), await idOf('smooth')], [[wanted, wanted], before])
    equal(await fieldOf(up, 'smooth', `${first}.allocatedResources`), '{"cpu":"200m","memory":"64Mi"}')

    await resize('abrupt', '200m', '64Mi')
    await until(async () => (await resourcesOf('abrupt')) === '{"cpu":"200m","memory":"64Mi"} 1')
    deepEqual(await groupsOf('abrupt'), [wanted, wanted])

    await resize('huge', '500', '32Mi')
    const pending = '.status.conditions[?(@.type=="PodResizePending")]'
    await until(async () => (await fieldOf(up, 'huge', `${pending}.reason`)) === 'Infeasible')
    match(
      await fieldOf(up, 'huge', `${pending}.message`),
      /^Node didn't have enough capacity: cpu, requested: 500000, capacity: \d+$/,
    )
    equal(await resourcesOf('huge'), '{"cpu":"100m","memory":"32Mi"} 0')
    await resize('huge', '100m', '32Mi')
    await until(async () => (await fieldOf(up, 'huge', `${pending}.reason`)) === '')
    await up.k(['delete', 'pod', '--all', '--timeout=200s'])
  })
})
