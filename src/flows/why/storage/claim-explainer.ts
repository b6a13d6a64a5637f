// Explains why a PersistentVolumeClaim is not bound, or not deleted.
import {
  persistentVolumeClaim,
  type PersistentVolumeClaim,
} from '../../../api/core/v1/volume/persistent-volume-claim.ts'
import { pod, type Pod } from '../../../api/core/v1/pod/pod.ts'
import { namespaceOf } from '../../../api/meta/object.ts'
import { storageClass, type StorageClass } from '../../../api/storage/v1/storage-class.ts'
import { didYouMean, similarNames } from '../../../base/text/similar-names.ts'
import { isMissing, type ClusterReader } from '../explainer/cluster-reader.ts'
import { defineExplainer, namesText, plural } from '../explainer/explainer.ts'
import { info, problem, warning, withFix, type Finding } from '../explainer/finding.ts'
import { recreateWith } from '../explainer/fix-command.ts'
import { unsuitableVolumes } from './unsuitable-volumes.ts'

const uses = (each: Pod, claim: string): boolean =>
  (each.spec.volumes ?? []).some(({ persistentVolumeClaim: volume }) => volume?.claimName === claim)

export const claimExplainer = defineExplainer({
  kind: persistentVolumeClaim,
  checked: 'its phase and the pods that use it',
  async explain(claim, cluster) {
    const { name, deletionTimestamp } = claim.metadata
    const users = (await cluster.list(pod, namespaceOf(claim))).filter((each) => uses(each, name))
    if (deletionTimestamp !== undefined && users.length > 0)
      return [
        warning(
          `${plural(users.length, 'pod')} still ${users.length === 1 ? 'uses' : 'use'} it: ${namesText(users.map(({ metadata }) => metadata.name))}.`,
        ),
      ]
    const unbound = await whyUnbound(claim, users.length, cluster)
    return unbound === undefined ? [] : [{ ...unbound, text: `It is not bound to a volume: ${unbound.text}` }]
  },
})

/** The provisioner of classes whose volumes are created by an administrator. */
const noProvisioner = 'kubernetes.io/no-provisioner'

/** Why a claim is not bound, as the end of a sentence; undefined if it is bound. */
export async function whyUnbound(
  claim: PersistentVolumeClaim,
  users: number,
  cluster: ClusterReader,
): Promise<Finding | undefined> {
  const { spec, status } = claim
  if (status.phase === 'Bound') return undefined
  const { storageClassName: className = '', volumeName } = spec
  if (status.phase === 'Lost') return problem(`its volume ${volumeName ?? ''} no longer exists.`)
  if (volumeName !== undefined) return problem(`it names the volume ${volumeName}, which is not bound to it.`)
  if (className === '')
    return unfitting(
      'it has no storage class, so it needs a PersistentVolume that an administrator creates',
      claim,
      cluster,
    )
  const found = await cluster.find(storageClass, '', className)
  if (found === undefined) return missingClass(claim, className, cluster)
  if (found.volumeBindingMode === 'WaitForFirstConsumer' && users === 0)
    return info(`its StorageClass ${className} waits for the first pod that uses the claim.`)
  if (found.provisioner === noProvisioner)
    return unfitting(`its StorageClass ${className} has no provisioner`, claim, cluster)
  return problem(`the provisioner ${found.provisioner} has not created one.`)
}

async function unfitting(beginning: string, claim: PersistentVolumeClaim, cluster: ClusterReader): Promise<Finding> {
  const { text, fix } = await unsuitableVolumes(claim, cluster)
  return problem(`${beginning}; ${text}.`, withFix(fix))
}

/** The annotation of the class that claims without a class get. */
const defaultAnnotation = 'storageclass.kubernetes.io/is-default-class'

const isDefault = ({ metadata }: StorageClass): boolean => metadata.annotations?.[defaultAnnotation] === 'true'

/** The class of a claim cannot be changed, so that the claim has to be created again. */
async function missingClass(claim: PersistentVolumeClaim, className: string, cluster: ClusterReader): Promise<Finding> {
  if (!(await isMissing(cluster, storageClass, '', className)))
    return problem(`its StorageClass ${className} cannot be read.`)
  const classes = await cluster.list(storageClass, '')
  const names = classes.map((each) => each.metadata.name)
  const similar = similarNames(className, names)
  const other = similar[0] ?? classes.find(isDefault)?.metadata.name ?? (names.length === 1 ? names[0] : undefined)
  const known = names.length === 0 ? 'The cluster has no StorageClass.' : `The cluster has ${namesText(names)}.`
  return problem(
    [`the StorageClass ${className} does not exist.`, similar.length > 0 ? capital(didYouMean(similar)) : known].join(
      ' ',
    ),
    other === undefined
      ? {}
      : {
          fix: recreateWith(
            `pvc/${claim.metadata.name}`,
            namespaceOf(claim),
            `storageClassName: ${className}`,
            `storageClassName: ${other}`,
          ),
        },
  )
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
