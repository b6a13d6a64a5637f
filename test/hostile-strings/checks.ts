// What must not leave the process: hostile texts as syntax of commands, rules, paths and requests.
import { parseRequestHead } from '../../src/platform/http1/request-head.ts'
import { markIn, numberIn } from './hostile-texts.ts'

export interface Violation {
  readonly text: string
  readonly index: number | undefined
}

const violation = (text: string, source = text): Violation => ({ text, index: numberIn(source) })

/** A program that is run with arguments. None of them may contain a text of an object that no parser has accepted. */
export const commandViolations = (command: readonly string[]): Violation[] =>
  command.filter((word) => markIn(word) !== undefined).map((word) => violation(command.join(' '), word))

const quoted = /"[^"\n]*"/g

/** Commands that a program reads. A hostile text may be in a quoted string, where it is a comment. */
export const inputViolations = (program: string, input: string): Violation[] =>
  input
    .replaceAll(quoted, '""')
    .split('\n')
    .filter((line) => markIn(line) !== undefined || line.includes('flush ruleset'))
    .map((line) => violation(`${program} reads ${JSON.stringify(excerpt(line))}`, line))

const excerpt = (line: string): string => {
  const at = Math.max(0, line.search(/zq\d+zq/) - 60)
  return line.slice(at, at + 160)
}

/** A path on the host, which must be below one of the roots. */
export function pathViolations(path: string, roots: readonly string[]): Violation[] {
  const segments = path.split('/')
  const isBelow = roots.some((root) => path === root || path.startsWith(`${root}/`))
  const isPlain = !path.includes('\0') && !segments.includes('..') && !segments.includes('.')
  return isBelow && isPlain ? [] : [violation(`the path ${JSON.stringify(path.slice(-200))}`, path)]
}

/** The request of an API client: a path with one segment for each name. */
export function targetViolations(target: string): Violation[] {
  const [path = ''] = target.split('?')
  const isPlain = /^[A-Z]+ \/[!-~]*$/.test(target) && !path.split('/').some((each) => each === '..' || each === '.')
  return isPlain ? [] : [violation(`the API request ${JSON.stringify(target.slice(0, 200))}`, target)]
}

/** The bytes that were sent on a connection: exactly one request, and no header line that is a part of a hostile text. */
export function requestViolations(text: string): Violation[] {
  const end = text.indexOf('\r\n\r\n')
  if (text === '') return []
  const failed = (why: string) => [violation(`${why}: ${JSON.stringify(text.slice(0, 300))}`, text)]
  if (end !== text.length - 4) return failed('more or less than one request')
  try {
    const { lines, target } = parseRequestHead(text.slice(0, end))
    if (/[^!-~]/.test(target)) return failed('special characters in the target')
    // A whole text may be the name of a header, where it is one; a part of a text may not.
    const isInjected = lines.some((name, at) => at % 2 === 0 && /^zq\d+zq$/.test(name))
    return isInjected ? failed('a header') : []
  } catch (error) {
    return failed(String(error))
  }
}

/** The head of a response: no header line that is a part of a hostile text, and nothing after it. */
export function responseViolations(head: string): Violation[] {
  const lines = head.slice(0, -4).split('\r\n')
  const isOne =
    head.indexOf('\r\n\r\n') === head.length - 4 && lines.slice(1).every((line) => /^[^\s:]+: [^\r\n\0]*$/.test(line))
  const isInjected = lines.some((line) => /^zq\d+zq:/.test(line))
  return isOne && !isInjected ? [] : [violation(`the response ${JSON.stringify(head.slice(0, 300))}`, head)]
}

/** The server name in the first message of TLS. */
export const serverNameViolations = (name: string): Violation[] =>
  /^[-.\dA-Za-z]{1,253}$/.test(name) ? [] : [violation(`the server name ${JSON.stringify(name)}`, name)]

/** Where a connection leads: an address and a port. */
export const peerViolations = ({ address, port }: { readonly address: string; readonly port: number }): Violation[] =>
  /^[\d.]+$|^[\da-f:]+$/.test(address) && Number.isInteger(port) && port > 0 && port < 65_536
    ? []
    : [violation(`a connection to ${JSON.stringify(address)} ${port}`, address)]

/** The bytes of a message, which a reader must write in the same way. */
export const messageViolations = (what: string, sent: Uint8Array, written: Uint8Array): Violation[] =>
  Buffer.compare(sent, written) === 0
    ? []
    : [violation(`the message ${what} is not well-formed`, Buffer.from(sent).toString('latin1'))]

/** A file of lines, such as /etc/hosts: no line begins with a part of a hostile text. */
export const lineViolations = (file: string, content: string): Violation[] =>
  content
    .split('\n')
    .filter((line) => /^(?:zq\d+zq|flush ruleset)/.test(line))
    .map((line) => violation(`a line of ${file}: ${JSON.stringify(line)}`, line))

/** A path relative to a directory, which must not leave it. */
export const relativePathViolations = (path: string): Violation[] =>
  path.startsWith('/') || path.includes('\0') || path.split('/').some((each) => each === '..' || each === '.')
    ? [violation(`the relative path ${JSON.stringify(path.slice(-200))}`, path)]
    : []

/** The type is a part of a program's name, and the source an argument that must not be an option. */
export const mountViolations = ({ type, source }: { readonly type: string; readonly source: string }): Violation[] =>
  /^[\da-z]*$/.test(type) && /^[^-\0\n][^\0\n]*$/.test(source)
    ? []
    : [violation(`a mount of type ${JSON.stringify(type)} from ${JSON.stringify(source)}`, `${type} ${source}`)]
