// FieldTracking of a request: the writer, the versions of the kind, and the fields that the subresource does not write.
import type { ApiObject } from '../../../api/meta/object.ts'
import type { ApplyOptions } from '../../objects/server-side-apply.ts'
import type { FieldTracking, VersionView } from '../../objects/managed-fields.ts'
import type { ObjectVersions } from '../resource/object-versions.ts'
import type { ResourceDeps } from '../resource/resource-deps.ts'
import { fieldsIgnoredByStatus } from '../../objects/status-update.ts'
import { writeOptionsOf } from '../../request/write-options.ts'
import type { ResourceRequest } from '../../request/request.ts'

/** `versions` converts the objects of custom kinds. */
export function fieldTrackingOf(
  deps: ResourceDeps,
  request: ResourceRequest,
  versions: ObjectVersions | undefined,
): FieldTracking {
  const { converter, statusRule, clock } = deps
  const { subresource } = request.target
  return {
    writer: { manager: writeOptionsOf(request).manager, apiVersion: converter.kind.apiVersion, subresource },
    view: (apiVersion) => versionViewOf(deps, apiVersion, versions),
    ignored:
      subresource === 'status'
        ? fieldsIgnoredByStatus(converter.kind, statusRule)
        : converter.kind.hasStatus
          ? statusOnly
          : nothing,
    nowMs: clock.nowMs(),
  }
}

/** The same for an apply. */
export function applyOptionsOf(
  deps: ResourceDeps,
  request: ResourceRequest,
  versions: ObjectVersions | undefined,
): ApplyOptions {
  return {
    ...fieldTrackingOf(deps, request, versions),
    structure: deps.converter.kind.schema.structure,
    force: writeOptionsOf(request).force,
  }
}

const statusOnly = [['f:status']]
const nothing: FieldTracking['ignored'] = []

/** Converts objects from the request's version to the version of an entry. */
export function versionViewOf(
  { versions, converter }: ResourceDeps,
  apiVersion: string,
  objects: ObjectVersions | undefined,
): VersionView | undefined {
  const mayBeUntyped = converter.kind.custom !== undefined
  if (apiVersion === converter.kind.apiVersion)
    return { structure: converter.kind.schema.structure, convert: (object) => object, mayBeUntyped }
  const other = versions().find((kind) => kind.apiVersion === apiVersion)
  if (other === undefined) return undefined
  return {
    structure: other.schema.structure,
    mayBeUntyped,
    convert(object) {
      if (objects !== undefined) return objects.convert(object, apiVersion)
      const kept = converter.toStored(object as ApiObject)
      return other.storedAs === undefined ? kept : other.storedAs.fromStored(kept)
    },
  }
}
