// FieldTracking of a request: the writer, the versions of the kind, and the fields that the subresource does not write.
import { kinds } from '../../api/kinds.ts'
import type { Kind } from '../../api/kind/kind.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import { structureOf } from '../../schema/apply/structure.ts'
import type { ApplyOptions } from '../objects/server-side-apply.ts'
import type { FieldTracking, VersionView } from '../objects/managed-fields.ts'
import type { ResourceDeps } from './resource-deps.ts'
import { fieldsIgnoredByStatus } from '../objects/status-update.ts'
import { writeOptionsOf } from '../request/write-options.ts'
import type { ResourceRequest } from '../request/request.ts'

export function fieldTrackingOf(deps: ResourceDeps, request: ResourceRequest): FieldTracking {
  const { converter, statusRule, clock } = deps
  const { subresource } = request.target
  return {
    writer: { manager: writeOptionsOf(request).manager, apiVersion: converter.kind.apiVersion, subresource },
    view: (apiVersion) => versionViewOf(deps, apiVersion),
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
export function applyOptionsOf(deps: ResourceDeps, request: ResourceRequest): ApplyOptions {
  return {
    ...fieldTrackingOf(deps, request),
    structure: structureOf(deps.converter.kind.message),
    force: writeOptionsOf(request).force,
  }
}

const statusOnly = [['f:status']]
const nothing: FieldTracking['ignored'] = []

/** Converts objects from the request's version to the version of an entry. */
export function versionViewOf({ kind: stored, converter }: ResourceDeps, apiVersion: string): VersionView | undefined {
  if (apiVersion === converter.kind.apiVersion)
    return { structure: structureOf(converter.kind.message), convert: (object) => object }
  const other = kinds.find((kind) => kind.apiVersion === apiVersion && isVersionOf(kind, stored))
  if (other === undefined) return undefined
  return {
    structure: structureOf(other.message),
    convert(object) {
      const kept = converter.toStored(object as ApiObject)
      return other.storedAs === undefined ? kept : other.storedAs.fromStored(kept)
    },
  }
}

const isVersionOf = (kind: Kind, stored: Kind): boolean => kind === stored || kind.storedAs?.kind === stored
