// The contract of a CSI driver about itself: its name, its capabilities, its node and its registration.
import { deepEqual, equal, ok, rejects } from 'node:assert/strict'
import { controllerService, identityService, nodeService, registrationService } from '../methods.ts'
import { nodeId, signal, type Check } from './driver-under-test.harness.ts'

export function identityContract(check: Check): void {
  check('a driver says what it is and what it can do', async ({ driver, registrar }) => {
    equal((await driver.call(identityService.getPluginInfo, {}, signal)).name, 'csi.coxswain.dev')
    equal((await driver.call(identityService.probe, {}, signal)).ready?.value, true)
    const { capabilities } = await driver.call(identityService.getPluginCapabilities, {}, signal)
    deepEqual(
      capabilities.map(({ service, volumeExpansion }) => service?.type ?? volumeExpansion?.type),
      ['CONTROLLER_SERVICE', 'ONLINE'],
    )
    const controller = await driver.call(controllerService.controllerGetCapabilities, {}, signal)
    ok(controller.capabilities.some(({ rpc }) => rpc?.type === 'PUBLISH_UNPUBLISH_VOLUME'))
    const node = await driver.call(nodeService.nodeGetCapabilities, {}, signal)
    equal(node.capabilities[0]?.rpc?.type, 'STAGE_UNSTAGE_VOLUME')
    const info = await registrar.call(registrationService.getInfo, {}, signal)
    deepEqual([info.type, info.name, info.supportedVersions], ['CSIPlugin', 'csi.coxswain.dev', ['1.0.0']])
    await registrar.call(registrationService.notifyRegistrationStatus, { pluginRegistered: true }, signal)
  })

  check(
    'a node has an id, a limit and a topology',
    async ({ driver }) => {
      const info = await driver.call(nodeService.nodeGetInfo, {}, signal)
      deepEqual(
        [info.nodeId, info.maxVolumesPerNode, { ...info.accessibleTopology?.segments }],
        [nodeId, 2, { zone: 'a' }],
      )
      const { capabilities } = await driver.call(identityService.getPluginCapabilities, {}, signal)
      ok(capabilities.some(({ service }) => service?.type === 'VOLUME_ACCESSIBILITY_CONSTRAINTS'))
    },
    { topology: { zone: 'a' }, volumesMax: 2 },
  )

  check('a closed driver is not called', async ({ driver }) => {
    driver.close()
    await rejects(driver.call(identityService.probe, {}, signal))
  })
}
