// Field managers: the names of owners of fields. A request without one is named after the program that sent it.
import { lookup } from '../../base/collections/lookup.ts'
import { ownText } from '../../base/text/own-text.ts'
import { invalid, tooLong, type FieldError } from '../../schema/validation/field-error.ts'
import { senderPrefix } from '../coxswain/v1/flow-protocol.ts'

export const fieldManagerBytesMax = 128

/** Upstream's names of our components. */
const components: Readonly<Record<string, string>> = {
  apiserver: 'kube-apiserver',
  controller: 'kube-controller-manager',
  controllers: 'kube-controller-manager',
  scheduler: 'kube-scheduler',
}

/** The manager of a sender: `controller/deployment` is part of kube-controller-manager. */
export function managerOfSender(sender: string): string {
  const component = sender.split('/', 1)[0] ?? ''
  return lookup(components, component) ?? component
}

/** The program's name in a User-Agent, without unprintable characters. */
export function managerOfUserAgent(userAgent: string): string {
  if (userAgent.startsWith(senderPrefix)) return ownText(managerOfSender(userAgent.slice(senderPrefix.length)))
  let name = ''
  let bytes = 0
  for (const character of userAgent.split('/', 1)[0] ?? '') {
    if (!isPrintable(character)) continue
    bytes += encoder.encode(character).length
    if (bytes > fieldManagerBytesMax) break
    name += character
  }
  return name
}

const encoder = new TextEncoder()
const none: readonly FieldError[] = []
const isPrintable = (character: string): boolean => /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u.test(character)

/** Printable ASCII up to the maximum length, as most names are. */
const plainName = new RegExp(`^[ -~]{0,${fieldManagerBytesMax}}$`)

export function fieldManagerErrors(name: string, path: string): readonly FieldError[] {
  if (plainName.test(name)) return none
  const errors: FieldError[] = []
  if (encoder.encode(name).length > fieldManagerBytesMax) errors.push(tooLong(path, fieldManagerBytesMax))
  let position = 0
  for (const character of name) {
    if (!isPrintable(character)) {
      const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
      errors.push(invalid(path, name, `invalid character U+${code} (at position ${position})`))
    }
    position += encoder.encode(character).length
  }
  return errors
}
