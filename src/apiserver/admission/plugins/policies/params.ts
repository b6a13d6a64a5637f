// The parameters of a policy: the objects that a binding references.
import { thenMaybe, type MaybePromise } from '../../../../base/async/maybe-promise.ts'
import type { ParamKind, ParamRef } from '../../../../api/admissionregistration/v1/policy-params.ts'
import type { Kind } from '../../../../api/kind/kind.ts'
import type { ApiObject } from '../../../../api/meta/object.ts'
import { selects } from '../../../../api/selectors/selectors.ts'
import type { AdmissionHost } from '../../framework/admission-plugin.ts'

/** An error in a policy or a binding; the failure policy decides about its effect. */
export class ConfigurationError extends Error {}

/** The policy is evaluated once for each; null if there are no parameters. */
export type Params = readonly (ApiObject | null)[]

export function paramsOf(
  paramKind: ParamKind | undefined,
  paramRef: ParamRef | undefined,
  requestNamespace: string,
  host: AdmissionHost,
  signal: AbortSignal,
): MaybePromise<Params> {
  if (paramKind === undefined || paramRef === undefined) return [null]
  return thenMaybe(referenced(paramKindOf(paramKind, host), paramRef, requestNamespace, host, signal), (found) => {
    if (found.length === 0 && paramRef.parameterNotFoundAction !== 'Allow')
      throw new ConfigurationError('no params found for policy binding with `Deny` parameterNotFoundAction')
    return found
  })
}

/** Throws a ConfigurationError while the kind is not served. */
export function paramKindOf({ apiVersion = '', kind = '' }: ParamKind, host: AdmissionHost): Kind {
  const found = host.kindNamed(apiVersion, kind)
  if (found === undefined)
    throw new ConfigurationError(`failed to find resource referenced by paramKind: '${apiVersion}, Kind=${kind}'`)
  return found
}

function referenced(
  kind: Kind,
  { name = '', namespace = '', selector }: ParamRef,
  requestNamespace: string,
  host: AdmissionHost,
  signal: AbortSignal,
): MaybePromise<readonly ApiObject[]> {
  const within = kind.namespaced ? namespace || requestNamespace : ''
  if (kind.namespaced && within === '')
    throw new ConfigurationError(
      'cannot use namespaced paramRef in policy binding that matches cluster-scoped resources',
    )
  if (!kind.namespaced && namespace !== '')
    throw new ConfigurationError('paramRef.namespace must not be provided for a cluster-scoped `paramKind`')
  return name === ''
    ? thenMaybe(host.readAll(kind, within, signal), (all) =>
        all.filter(({ metadata }) => selects(selector, metadata.labels)),
      )
    : thenMaybe(host.read(kind, within, name, signal), (found) => (found === undefined ? [] : [found]))
}
