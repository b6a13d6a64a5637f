// Rules of node selection: the nodes from which the devices of a slice, or one device, can be accessed.
import { append } from '../../../base/collections/append.ts'
import { invalid, required, type FieldError } from '../../../schema/validation/field-error.ts'
import { validateNodeSelector } from '../../core/v1/scheduling/affinity-rules.ts'
import type { NodeSelector } from '../../core/v1/scheduling/affinity.ts'
import { dnsSubdomainErrors } from '../../validation/names.ts'
import type { Device, ResourceSliceSpec } from './resource-slice-spec.ts'

interface Place {
  readonly nodeName?: string
  readonly nodeSelector?: NodeSelector
  readonly allNodes?: boolean
  readonly perDeviceNodeSelection?: boolean
}

/** The fields that select nodes, among those that are set to a valid value. */
const placesOf = ({ nodeName, nodeSelector, allNodes, perDeviceNodeSelection }: Place): string[] => [
  ...(nodeName ? ['`nodeName`'] : []),
  ...(nodeSelector === undefined ? [] : ['`nodeSelector`']),
  ...(allNodes ? ['`allNodes`'] : []),
  ...(perDeviceNodeSelection ? ['`perDeviceNodeSelection`'] : []),
]

function validatePlace(place: Place, path: string, emptyNodeName: string): FieldError[] {
  const { nodeName, nodeSelector } = place
  const errors: FieldError[] = []
  if (nodeName === '') errors.push(invalid(`${path}.nodeName`, '', emptyNodeName))
  else if (nodeName !== undefined)
    append(
      errors,
      dnsSubdomainErrors(nodeName).map((detail) => invalid(`${path}.nodeName`, nodeName, detail)),
    )
  if (nodeSelector !== undefined) append(errors, validateNodeSelector(nodeSelector, `${path}.nodeSelector`))
  for (const field of ['allNodes', 'perDeviceNodeSelection'] as const)
    if (place[field] === false) errors.push(invalid(`${path}.${field}`, false, 'must be either unset or set to true'))
  return errors
}

export function validateSliceNodes(spec: ResourceSliceSpec): FieldError[] {
  const detail = 'exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required'
  const errors = validatePlace(spec, 'spec', 'must be either unset or set to a non-empty string')
  const terms = spec.nodeSelector?.nodeSelectorTerms
  // With a single term, the selectors of several slices can be merged.
  if (terms !== undefined && terms.length !== 1)
    errors.push(invalid('spec.nodeSelector.nodeSelectorTerms', terms, 'must have exactly one node selector term'))
  const places = placesOf(spec)
  if (places.length === 0) errors.push(required('spec', detail))
  if (places.length > 1)
    errors.push(invalid('spec', `{${places.join(', ')}}`, `${detail}, but multiple fields are set`))
  return errors
}

export function validateDeviceNodes(device: Device, path: string, isPerDevice: boolean): FieldError[] {
  const { nodeName, nodeSelector, allNodes } = device
  if (!isPerDevice)
    return nodeName === undefined && nodeSelector === undefined && allNodes === undefined
      ? []
      : [
          invalid(
            path,
            undefined,
            '`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec',
          ),
        ]
  const detail =
    'exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec'
  const places = placesOf({ ...device })
  const errors = validatePlace(device, path, 'must not be empty')
  if (places.length === 0) errors.push(required(path, detail))
  if (places.length > 1) errors.push(invalid(path, `{${places.join(', ')}}`, detail))
  return errors
}
