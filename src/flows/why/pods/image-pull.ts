// Why the image of a container cannot be pulled. The status, three events and the record of calls report it; it is said once.
import type { Pod } from '../../../api/core/v1/pod/pod.ts'
import type { ContainerStatus } from '../../../api/core/v1/pod/pod-status.ts'
import { namespaceOf } from '../../../api/meta/object.ts'
import type { ClusterReader } from '../explainer/cluster-reader.ts'
import { problem, withFix, type Finding } from '../explainer/finding.ts'
import { kubectl } from '../explainer/fix-command.ts'
import { imageCommand, templateOwnerOf } from '../explainer/template-owner.ts'
import { warningsOf } from './pod-warnings.ts'

export async function whyImageIsMissing(
  object: Pod,
  status: ContainerStatus,
  cluster: ClusterReader,
): Promise<Finding> {
  const { name, image, state } = status
  const { reason = '', message = '' } = state?.waiting ?? {}
  const failed = (await warningsOf(object, cluster)).find(({ message: text = '' }) => text.startsWith('Failed to pull'))
  const cause = causeIn(failed?.message ?? message, image)
  const owner = await templateOwnerOf(object, cluster)
  // Docker Hub says the same of an image that does not exist, which is the usual case.
  const isDenied = /unauthorized|denied|authentication|\b40[13]\b/i.test(cause) && !/does not exist/.test(cause)
  return problem(`Container ${name} cannot start, because its image ${image} cannot be pulled (${reason}): ${cause}.`, {
    covers: ['BackOff', 'Failed', 'pull image'],
    ...withFix(
      isDenied && object.spec.imagePullSecrets === undefined
        ? pullSecretCommand(namespaceOf(object), image, object.spec.serviceAccountName)
        : imageCommand(owner, name),
    ),
  })
}

/** Texts before the cause: `Failed to pull image "x": `, `Back-off pulling image "x": ErrImagePull: ` */
const introduction = /^(?:Failed to pull image|Back-off pulling image) "[^"]{0,1024}"(?:: )?(?:ErrImagePull: )?/

/** Texts of containerd before the cause, which repeat the name of the image. */
const runtimeIntroductions = [
  /^rpc error: code = \w{1,40} desc = /,
  /^failed to pull and unpack image "[^"]{0,1024}": /,
  /^failed to resolve (?:reference|image) "[^"]{0,1024}": /,
]

function causeIn(message: string, image: string): string {
  const said = message.replace(introduction, '').replace(/\.$/, '')
  const cause = runtimeIntroductions.reduce((text, pattern) => text.replace(pattern, ''), said)
  if (/^\S{1,1024}: not found$/.test(cause)) return 'the registry does not have it'
  return cause === '' ? `no cause is reported for ${image} yet` : cause
}

/** Gives the pod's ServiceAccount credentials for the registry of the image. */
function pullSecretCommand(home: string, image: string, account = 'default'): string {
  const registry = image.includes('/') ? (image.split('/')[0] ?? '') : 'docker.io'
  const create = kubectl(
    home,
    ...['create', 'secret', 'docker-registry', 'registry', `--docker-server=${registry}`],
    ...['--docker-username=USER', '--docker-password=PASSWORD'],
  )
  const patch = JSON.stringify({ imagePullSecrets: [{ name: 'registry' }] })
  return `${create} && ${kubectl(home, 'patch', `serviceaccount/${account}`, '-p', patch)}`
}
