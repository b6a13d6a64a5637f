// Deletion of released volumes, and of the finalizer that keeps a PersistentVolume until the driver has deleted its volume.
import type { Context } from '../../../base/observability/context.ts'
import { persistentVolume, type PersistentVolume } from '../../../api/core/v1/volume/persistent-volume.ts'
import { ignoring } from '../../../api/errors/status-error.ts'
import { objectKey } from '../../../api/meta/object.ts'
import { volumeAttachment } from '../../../api/storage/v1/volume-attachment.ts'
import { controllerService } from '../../../machine/csi/methods.ts'
import { driverErrorText } from '../sidecar/driver-connection.ts'
import { removeFinalizer } from '../sidecar/finalizers.ts'
import { secretValues } from '../sidecar/secrets.ts'
import type { SidecarTools } from '../sidecar/sidecar.ts'
import { mustDelete, mustReleaseFinalizer, provisionerFinalizer } from '../../provisioning/provisioning.ts'
import { deletionSecretOf } from './volume-object.ts'

/** Deletes a released volume, or lets go of one that must be kept. */
export async function syncVolume(tools: SidecarTools, name: string, context: Context): Promise<undefined> {
  const { client, informers, driver, events } = tools
  const volume = informers.of(persistentVolume).get(objectKey('', name))
  if (volume === undefined) return
  if (volume.spec.csi?.driver === driver.name && mustReleaseFinalizer(volume))
    return removeFinalizer(client, persistentVolume, volume, provisionerFinalizer, context) as Promise<undefined>
  if (!mustDelete(volume, driver.name)) return
  try {
    await deleteVolume(tools, volume, context)
  } catch (error) {
    context.signal.throwIfAborted()
    events.record(volume, { type: 'Warning', reason: 'VolumeFailedDelete', message: driverErrorText(error) }, context)
    throw error
  }
}

async function deleteVolume(
  { client, informers, driver }: SidecarTools,
  volume: PersistentVolume,
  context: Context,
): Promise<void> {
  const { name, uid } = volume.metadata
  const attachments = [...informers.of(volumeAttachment).all()]
  const attachment = attachments.find(({ spec }) => spec.source.persistentVolumeName === name)
  if (attachment !== undefined)
    throw new Error(`persistentvolume ${name} is still attached to node ${attachment.spec.nodeName}`)
  const secrets = await secretValues(client, deletionSecretOf(volume.metadata.annotations), context)
  await driver.call(controllerService.deleteVolume, { volumeId: volume.spec.csi?.volumeHandle ?? '', secrets }, context)
  await removeFinalizer(client, persistentVolume, volume, provisionerFinalizer, context)
  await client.of(persistentVolume).delete(name, { uid }, context).catch(ignoring('NotFound'))
}
