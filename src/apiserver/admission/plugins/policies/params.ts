// The parameters of a policy: the objects that a binding references.
import type { ParamKind, ParamRef } from '../../../../api/admissionregistration/v1/policy-params.ts'
import type { Kind } from '../../../../api/kind/kind.ts'
import { kinds } from '../../../../api/kinds.ts'
import type { ApiObject } from '../../../../api/meta/object.ts'
import { selects } from '../../../../api/selectors/selectors.ts'
import type { ObjectLister } from '../../../watch-cache/object-caches.ts'

/** An error in a policy or a binding; the failure policy decides about its effect. */
export class ConfigurationError extends Error {}

/** The policy is evaluated once for each; null if there are no parameters. */
export type Params = readonly (ApiObject | null)[]

export function paramsOf(
  paramKind: ParamKind | undefined,
  paramRef: ParamRef | undefined,
  requestNamespace: string,
  reads: ObjectLister,
): Params {
  if (paramKind === undefined || paramRef === undefined) return [null]
  const kind = kindOf(paramKind)
  const found = referenced(kind, paramRef, requestNamespace, reads)
  if (found.length === 0 && paramRef.parameterNotFoundAction !== 'Allow')
    throw new ConfigurationError('no params found for policy binding with `Deny` parameterNotFoundAction')
  return found
}

export function kindOf({ apiVersion = '', kind = '' }: ParamKind): Kind {
  const [version = '', group = ''] = apiVersion.split('/').toReversed()
  const found = kinds.find((each) => each.group === group && each.version === version && each.kind === kind)
  if (found === undefined)
    throw new ConfigurationError(`failed to find resource referenced by paramKind: '${apiVersion}, Kind=${kind}'`)
  return found
}

function referenced(
  kind: Kind,
  { name = '', namespace = '', selector }: ParamRef,
  requestNamespace: string,
  reads: ObjectLister,
): readonly ApiObject[] {
  const within = kind.namespaced ? namespace || requestNamespace : ''
  if (kind.namespaced && within === '')
    throw new ConfigurationError(
      'cannot use namespaced paramRef in policy binding that matches cluster-scoped resources',
    )
  if (!kind.namespaced && namespace !== '')
    throw new ConfigurationError('paramRef.namespace must not be provided for a cluster-scoped `paramKind`')
  const stored = kind.storedAs?.kind ?? kind
  const shown = (object: ApiObject): ApiObject => kind.storedAs?.fromStored(object) ?? object
  if (name !== '') {
    const found = reads.get(stored, within, name)
    return found === undefined ? [] : [shown(found)]
  }
  const all = reads.list(stored, kind.namespaced ? within : undefined)
  return all.filter(({ metadata }) => selects(selector, metadata.labels)).map(shown)
}
