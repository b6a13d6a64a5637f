// AdmissionRequest of admission.k8s.io, as webhooks receive it and expressions read it in the variable `request`.
import type { Kind } from '../../../api/kind/kind.ts'
import type { AdmissionAttributes } from './admission-plugin.ts'

/** The fields of an AdmissionRequest except uid and objects. `kind`: the version in which the objects are passed. */
export function requestOf(attributes: AdmissionAttributes, kind: Kind) {
  const { operation, requestKind, subresourceObject, namespace, name, subresource, user, dryRun } = attributes
  const part = subresource === '' ? {} : { subResource: subresource, requestSubResource: subresource }
  const { name: username, uid: userUid, groups, extra } = user
  return {
    kind: kindOf(subresourceObject ?? kind),
    resource: resourceOf(kind),
    requestKind: kindOf(subresourceObject ?? requestKind),
    requestResource: resourceOf(requestKind),
    ...part,
    ...(name === '' ? {} : { name }),
    ...(namespace === '' ? {} : { namespace }),
    operation: operation.toUpperCase(),
    userInfo: {
      username,
      ...(userUid === '' ? {} : { uid: userUid }),
      groups,
      ...(Object.keys(extra).length === 0 ? {} : { extra }),
    },
    dryRun,
    options: optionsOf(attributes),
  }
}

/** The options of the write; null for a connection. A patch has UpdateOptions, because admission treats it as an update. */
function optionsOf({ operation, options, dryRun }: AdmissionAttributes): object | null {
  if (operation === 'connect') return null
  const sent =
    options instanceof URLSearchParams
      ? Object.fromEntries([...options].filter(([name, value]) => writeOptions.has(name) && value !== ''))
      : options
  return {
    kind: `${operation.charAt(0).toUpperCase()}${operation.slice(1)}Options`,
    apiVersion: 'meta.k8s.io/v1',
    ...sent,
    ...(dryRun ? { dryRun: ['All'] } : {}),
  }
}

const writeOptions = new Set(['fieldManager', 'fieldValidation'])

const kindOf = ({ group: of, version, kind }: Pick<Kind, 'group' | 'version' | 'kind'>) => ({
  group: of,
  version,
  kind,
})
const resourceOf = ({ group: of, version, plural }: Kind) => ({ group: of, version, resource: plural })
