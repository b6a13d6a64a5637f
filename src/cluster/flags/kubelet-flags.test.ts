import { deepEqual, equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { defaultKubeletSettings } from '../../kubelet/node/kubelet-settings.ts'
import { kubeletSettings, type KubeletFlagValues } from './kubelet-flags.ts'

test('the defaults are those of upstream', () => deepEqual(kubeletSettings({}), defaultKubeletSettings))

test('flags are parsed as upstream parses them', () => {
  const settings = kubeletSettings({
    'cgroup-root': '/test',
    'kube-reserved': 'cpu=200m, memory=500Mi',
    'eviction-hard': 'memory.available<1Gi',
    'eviction-soft': 'nodefs.available<20%',
    'eviction-soft-grace-period': 'nodefs.available=1m30s',
    'eviction-pressure-transition-period': '30s',
    'image-gc-high-threshold': '70',
    'cloud-provider': 'external',
    'provider-id': 'cloud://i-1',
  })
  deepEqual(settings.kubeReserved, { cpu: '200m', memory: '500Mi' })
  deepEqual(
    settings.thresholds.map(({ signal, below, graceMs }) => [signal, below.text, graceMs]),
    [
      ['nodefs.available', '20%', 90_000],
      ['memory.available', '1Gi', 0],
    ],
  )
  equal(settings.pressureTransitionMs, 30_000)
  equal(settings.imageGc.highPercent, 70)
  deepEqual([settings.cloudProvider, settings.providerId], ['external', 'cloud://i-1'])
})

const wrong: [flags: KubeletFlagValues, message: RegExp][] = [
  [{ 'allowed-unsafe-sysctls': 'vm.x' }, /^--allowed-unsafe-sysctls: the sysctls "vm\.x" are not known/],
  [{ 'cloud-provider': 'aws' }, /^--cloud-provider: "aws" is not external$/],
  [{ 'kube-reserved': 'cpu' }, /^--kube-reserved: "cpu" is no amount such as memory=500Mi$/],
  [{ 'eviction-hard': 'memory<1' }, /^--eviction-hard: "memory<1" is not a threshold/],
  [{ 'image-gc-low-threshold': '101' }, /^--image-gc-low-threshold: "101" is no whole number up to 100$/],
  [{ 'minimum-image-ttl-duration': 'soon' }, /^--minimum-image-ttl-duration: "soon" is not a duration/],
]
for (const [flags, message] of wrong) test(message.source, () => throws(() => kubeletSettings(flags), { message }))
