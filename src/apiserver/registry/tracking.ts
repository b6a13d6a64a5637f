// Tracking: what one request brings to the keeping of managedFields: the writer, the versions, what its door ignores.
import { kinds } from '../../api/kinds.ts'
import type { Kind } from '../../api/kind.ts'
import type { ApiObject } from '../../api/object.ts'
import { structureOf } from '../../schema/apply/structure.ts'
import type { ApplyOptions } from './apply.ts'
import type { Tracking, VersionView } from './managed-fields.ts'
import type { ResourceParts, ResourceRequest } from './parts.ts'
import { ignoredByStatus } from './status-part.ts'
import { writeOptionsOf } from './write-options.ts'

export function trackingOf(parts: ResourceParts, request: ResourceRequest): Tracking {
  const { face, clock } = parts
  const { subresource } = request.target
  return {
    writer: { manager: writeOptionsOf(request).manager, apiVersion: face.kind.apiVersion, subresource },
    view: (apiVersion) => viewOf(parts, apiVersion),
    ignored: subresource === 'status' ? ignoredByStatus(face.kind) : face.kind.hasStatus ? statusAlone : nothing,
    nowMs: clock.nowMs(),
  }
}

/** The same for an apply, which also needs the type's own view and whether it may take what others own. */
export function applyOptionsOf(parts: ResourceParts, request: ResourceRequest): ApplyOptions {
  return {
    ...trackingOf(parts, request),
    structure: structureOf(parts.face.kind.message),
    isForced: writeOptionsOf(request).isForced,
  }
}

const statusAlone = [['f:status']]
const nothing: Tracking['ignored'] = []

/** How the entries of a version see objects that are given in the request's version. */
export function viewOf({ kind: stored, face }: ResourceParts, apiVersion: string): VersionView | undefined {
  if (apiVersion === face.kind.apiVersion)
    return { structure: structureOf(face.kind.message), shown: (object) => object }
  const other = kinds.find((kind) => kind.apiVersion === apiVersion && isVersionOf(kind, stored))
  if (other === undefined) return undefined
  return {
    structure: structureOf(other.message),
    shown(object) {
      const kept = face.toStored(object as ApiObject)
      return other.storedAs === undefined ? kept : other.storedAs.fromStored(kept)
    },
  }
}

const isVersionOf = (kind: Kind, stored: Kind): boolean => kind === stored || kind.storedAs?.kind === stored
