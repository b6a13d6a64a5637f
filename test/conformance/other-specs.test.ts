import { equal } from 'node:assert/strict'
import { suite, test } from 'node:test'
import { isOtherSpec } from './other-specs.ts'

suite('the specs beside the conformance specs', () => {
  for (const [name, isChosen] of [
    ['[sig-apps] Job should delete pods when suspended', true],
    ['[sig-apps] Job should run a job to completion [Conformance]', false],
    ['[sig-auth] [FeatureGate:ClusterTrustBundle] [Beta] [Feature:OffByDefault] should be able to mount', false],
    ['[sig-node] [NodeConformance] [FeatureGate:SidecarContainers] Probing restartable init container', true],
    ['[sig-windows] Services should be able to create a functioning NodePort service for Windows', false],
    ['[sig-storage] In-tree Volumes [Driver: hostPath] [Testpattern: Inline-volume (default fs)] volumes', true],
    ['[sig-storage] In-tree Volumes [Driver: cinder] [Testpattern: Inline-volume (default fs)] volumes', false],
    ['[sig-storage] In-tree Volumes [Driver: nfs3] [Testpattern: Inline-volume (default fs)] volumes', false],
    ['[sig-storage] CSI Mock volume attach CSI attach test using mock driver', false],
  ] as const)
    test(`${isChosen ? 'include' : 'do not include'} ${name}`, () => equal(isOtherSpec(name), isChosen))
})
