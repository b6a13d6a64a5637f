// Tracking: what one request brings to the keeping of managedFields: the writer, the versions, what its door ignores.
import { kinds } from '../../api/kinds.ts'
import type { Kind } from '../../api/kind/kind.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import { structureOf } from '../../schema/apply/structure.ts'
import type { ApplyOptions } from '../objects/server-side-apply.ts'
import type { FieldTracking, VersionView } from '../objects/managed-fields.ts'
import type { ResourceDeps, ResourceRequest } from './resource-deps.ts'
import { fieldsIgnoredByStatus } from '../objects/status-update.ts'
import { writeOptionsOf } from '../request/write-options.ts'

export function fieldTrackingOf(deps: ResourceDeps, request: ResourceRequest): FieldTracking {
  const { converter: face, clock } = deps
  const { subresource } = request.target
  return {
    writer: { manager: writeOptionsOf(request).manager, apiVersion: face.kind.apiVersion, subresource },
    view: (apiVersion) => versionViewOf(deps, apiVersion),
    ignored: subresource === 'status' ? fieldsIgnoredByStatus(face.kind) : face.kind.hasStatus ? statusAlone : nothing,
    nowMs: clock.nowMs(),
  }
}

/** The same for an apply, which also needs the type's own view and whether it may take what others own. */
export function applyOptionsOf(deps: ResourceDeps, request: ResourceRequest): ApplyOptions {
  return {
    ...fieldTrackingOf(deps, request),
    structure: structureOf(deps.converter.kind.message),
    force: writeOptionsOf(request).force,
  }
}

const statusAlone = [['f:status']]
const nothing: FieldTracking['ignored'] = []

/** How the entries of a version see objects that are given in the request's version. */
export function versionViewOf(
  { kind: stored, converter: face }: ResourceDeps,
  apiVersion: string,
): VersionView | undefined {
  if (apiVersion === face.kind.apiVersion)
    return { structure: structureOf(face.kind.message), convert: (object) => object }
  const other = kinds.find((kind) => kind.apiVersion === apiVersion && isVersionOf(kind, stored))
  if (other === undefined) return undefined
  return {
    structure: structureOf(other.message),
    convert(object) {
      const kept = face.toStored(object as ApiObject)
      return other.storedAs === undefined ? kept : other.storedAs.fromStored(kept)
    },
  }
}

const isVersionOf = (kind: Kind, stored: Kind): boolean => kind === stored || kind.storedAs?.kind === stored
