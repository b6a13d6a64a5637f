import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { createLog } from '../base/observability/log.ts'
import { VirtualClock } from '../base/time/virtual-clock.ts'
import type { KernelSettings } from '../machine/kernel-settings/kernel-settings.ts'
import { SimulatedKernelSettings } from '../machine/kernel-settings/simulated-kernel-settings.ts'
import { prepareBridges, routeLoopback, setConnectionTimeouts } from './kernel-preparation.ts'

const bridges = { 'net/bridge/bridge-nf-call-iptables': '0', 'net/bridge/bridge-nf-call-ip6tables': '0' }
const timeouts = {
  'net/netfilter/nf_conntrack_tcp_timeout_established': '432000',
  'net/netfilter/nf_conntrack_tcp_timeout_close_wait': '60',
}

function newDeps(kernelSettings: KernelSettings) {
  const clock = new VirtualClock()
  const lines: string[] = []
  const log = createLog({ clock, write: (line) => lines.push(line), format: 'json', level: 'info' })
  return { kernelSettings, clock, log, lines }
}

test('packets on bridges are filtered, and connections are tracked as long as by kube-proxy', async () => {
  const settings = new SimulatedKernelSettings({ ...bridges, ...timeouts })
  const deps = newDeps(settings)
  await prepareBridges(deps)
  await setConnectionTimeouts(deps)
  deepEqual([...settings.values.values()], ['1', '1', '86400', '3600'])
  deepEqual(deps.lines, [])
})

test('settings that do not exist are reported', async () => {
  const deps = newDeps(new SimulatedKernelSettings())
  await prepareBridges(deps)
  await setConnectionTimeouts(deps)
  deepEqual(
    deps.lines.map((line) => (JSON.parse(line) as { setting: string }).setting),
    [...Object.keys(bridges), ...Object.keys(timeouts)],
  )
})

test('without an interface no loopback address is routed, and a failure is reported', async () => {
  const deps = newDeps({ set: () => Promise.reject(new Error('read-only')) })
  await routeLoopback(deps)
  deepEqual(deps.lines, [])
  await routeLoopback({ ...deps, loopbackInterface: 'cni0' })
  deepEqual(
    deps.lines.map((line) => (JSON.parse(line) as { error: string }).error),
    ['read-only'],
  )
})
