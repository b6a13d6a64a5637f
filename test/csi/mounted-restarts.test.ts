// Flows 07 and 14 with real mounts: the driver process, the kubelets, the controllers, the scheduler and the sidecars are
// killed at arrows of the flow, and the driver exits before and after each of its calls. Data stays, no volume is attached or
// mounted twice, and no mount, loop device or directory is left. A run kills at a few arrows, COXSWAIN_LONG=1 at every one.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { inNamespaces } from '../containers/namespaces.ts'
import { attachedImages } from './loop-devices.ts'
import { mountedStorage, type MountedStorage } from './mounted-storage.ts'
import { arrowsOf, bindingModes, live, liveWithKills, startLives } from './volume-life.ts'

const isLong = process.env['COXSWAIN_LONG'] === '1'
const groups = [['driver'], ['kubelet/node-0', 'kubelet/node-1'], ['controllers'], ['scheduler'], ['csi-sidecars']]
const methods = [
  ...['CreateVolume', 'ControllerPublishVolume', 'NodeStageVolume', 'NodePublishVolume'],
  ...['NodeUnpublishVolume', 'NodeUnstageVolume', 'ControllerUnpublishVolume', 'DeleteVolume'],
]
const msMax = isLong ? 7_200_000 : 300_000

/** All arrows of the flow, or another one for each group and flow. */
const arrowsAt = (arrows: number, group: number): readonly number[] =>
  isLong ? Array.from({ length: arrows + 1 }, (_, arrow) => arrow) : [(group * 5 + 3) % (arrows + 1)]

async function checkClean({ driver }: MountedStorage): Promise<void> {
  deepEqual(await driver.leftovers(), [])
  deepEqual(await attachedImages(driver.folder), [])
}

inNamespaces(
  import.meta.url,
  () => {
    for (const [flow, mode] of Object.entries(bindingModes))
      test(`flow ${flow}: components killed at its arrows, mounted`, async (t) => {
        await using storage = await startLives(mountedStorage, mode)
        const arrows = await arrowsOf(storage)
        for (const [index, components] of groups.entries())
          for (const at of arrowsAt(arrows, index + Number(flow)))
            await t.test(`${components.join(' and ')} killed at arrow ${at} of ${arrows}`, () =>
              liveWithKills(storage, `data-${index}-${at}`, components, at),
            )
        await checkClean(storage)
      })

    test('the driver exits before and after each call, mounted', async (t) => {
      await using storage = await startLives(mountedStorage, 'WaitForFirstConsumer')
      for (const [index, method] of methods.entries())
        for (const when of isLong ? (['before', 'after'] as const) : ([index % 2 ? 'before' : 'after'] as const))
          await t.test(`the driver exits ${when} ${method}`, async () => {
            const { starts } = storage.driver
            storage.driver.inject({ method, when, action: { kind: 'exit' }, times: 1 })
            await live(storage, `exit-${index}-${when}`, () => Promise.resolve())
            equal(storage.driver.starts, starts + 1)
          })
      await checkClean(storage)
    })
  },
  msMax,
)
