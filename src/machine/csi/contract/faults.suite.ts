// The contract of a CSI driver about the faults that tests inject: errors, late answers and exits.
import { deepEqual, equal, rejects } from 'node:assert/strict'
import { controllerService, identityService } from '../methods.ts'
import { mount, release, signal, use, volumeOn, withCode, type Check } from './driver-under-test.harness.ts'

export function faultContract(check: Check): void {
  check('a test makes calls fail', async (under) => {
    const { driver, inject } = under
    const volume = volumeOn(under, 'pvc-1')
    const action = { kind: 'fail', code: 'RESOURCE_EXHAUSTED', message: 'full' } as const
    inject({ method: 'CreateVolume', when: 'before', action, times: 1 })
    await rejects(volume.create(), withCode('RESOURCE_EXHAUSTED'))
    equal((await driver.call(controllerService.listVolumes, {}, signal)).entries.length, 0)
    inject({ method: 'CreateVolume', when: 'after', action, times: 1 })
    await rejects(volume.create(), withCode('RESOURCE_EXHAUSTED'))
    equal((await driver.call(controllerService.listVolumes, {}, signal)).entries.length, 1)
    await volume.create()
    deepEqual(
      under.calls().map(({ method, code }) => `${method} ${code}`),
      [
        'CreateVolume RESOURCE_EXHAUSTED',
        'ListVolumes OK',
        'CreateVolume RESOURCE_EXHAUSTED',
        'ListVolumes OK',
        'CreateVolume OK',
      ],
    )
  })

  check('a test makes calls hang until they are cancelled, and other calls are answered meanwhile', async (under) => {
    under.inject({ method: 'CreateVolume', when: 'before', action: { kind: 'hang' }, times: 1 })
    const cancelled = new AbortController()
    const call = under.driver.call(
      controllerService.createVolume,
      { name: 'pvc-1', volumeCapabilities: [mount] },
      cancelled.signal,
    )
    await under.driver.call(identityService.probe, {}, signal)
    cancelled.abort(new Error('cancelled by the test'))
    await rejects(call, /cancelled by the test/)
    await volumeOn(under, 'pvc-1').create()
  })

  check('a test makes calls answer late', async (under) => {
    under.inject({ method: '*', when: 'after', action: { kind: 'delay', ms: 20 }, times: 1 })
    equal((await volumeOn(under, 'pvc-1').create()).volume?.volumeId, 'pvc-1')
  })

  for (const [when, volumes] of [
    ['before', 0],
    ['after', 1],
  ] as const)
    check(`a driver that exits ${when} a call keeps its records`, async (under) => {
      const volume = volumeOn(under, 'pvc-1')
      under.inject({ method: 'CreateVolume', when, action: { kind: 'exit' }, times: 1 })
      await rejects(volume.create(), withCode('UNAVAILABLE'))
      await under.restarted()
      equal((await under.driver.call(controllerService.listVolumes, {}, signal)).entries.length, volumes)
      await volume.create()
      await use(volume)
      await release(volume)
      await volume.delete()
    })
}
