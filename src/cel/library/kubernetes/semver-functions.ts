// Semantic versions (semver.org), strict or normalized.
import { global, member, type Functions } from '../../environment/function.ts'
import { boolType, intType, opaque, stringType } from '../../types/cel-type.ts'
import { compareText } from '../../values/equality.ts'
import { EvalError } from '../../values/eval-error.ts'
import { Opaque } from '../../values/value.ts'

export const semverType = opaque('kubernetes.Semver')

const pattern =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?(?:\+[0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*)?$/

/** The numbers of a version have 64 bits. */
const digitsMax = 20

export class Semver extends Opaque {
  readonly type = semverType
  readonly numbers: readonly bigint[]
  readonly prerelease: readonly string[]

  constructor(numbers: readonly bigint[], prerelease: readonly string[]) {
    super()
    this.numbers = numbers
    this.prerelease = prerelease
  }

  equals(other: Opaque): boolean {
    return other instanceof Semver && compareSemver(this, other) === 0
  }
}

/** `v1.2` becomes `1.2.0`, and leading zeros are removed. */
function normalized(text: string): string {
  const [, core = '', rest = ''] = /^([^-+]*)(.*)$/s.exec(text.trim().replace(/^v/, '')) ?? []
  const parts = core.split('.').map((part) => part.replace(/^0+(?=\d)/, ''))
  return [...parts, '0', '0'].slice(0, Math.max(3, parts.length)).join('.') + rest
}

export function parseSemver(text: string, normalize = false): Semver | undefined {
  const match = pattern.exec(normalize ? normalized(text) : text)
  if (match === null) return undefined
  const [, major = '', minor = '', patch = '', prerelease] = match
  const numbers = [major, minor, patch]
  if (numbers.some((digits) => digits.length > digitsMax || BigInt(digits) >= 1n << 64n)) return undefined
  return new Semver(numbers.map(BigInt), prerelease?.split('.') ?? [])
}

function semver(text: string, normalize = false): Semver {
  const parsed = parseSemver(text, normalize)
  if (parsed === undefined) throw new EvalError(semverProblem(normalize ? normalized(text) : text))
  return parsed
}

/** Why a text is not a version, in the wording of upstream's parser. */
function semverProblem(text: string): string {
  if (text === '') return 'Version string empty'
  const [major = '', minor, ...rest] = text.split('.')
  if (minor === undefined || rest.length === 0) return 'No Major.Minor.Patch elements found'
  const [, patch = '', prerelease, build] = /^([^-+]*)(?:-([^+]*))?(?:\+(.*))?$/s.exec(rest.join('.')) ?? []
  const numbers = [
    ['major', major],
    ['minor', minor],
    ['patch', patch],
  ] as const
  for (const [name, digits] of numbers) {
    if (!/^\d+$/.test(digits)) return `Invalid character(s) found in ${name} number "${digits}"`
    const capital = name[0]?.toUpperCase() + name.slice(1)
    if (/^0\d/.test(digits)) return `${capital} number must not contain leading zeroes "${digits}"`
    if (digits.length > digitsMax - 1 && BigInt(digits) >= 1n << 64n)
      return `strconv.ParseUint: parsing "${digits}": value out of range`
  }
  for (const part of prerelease?.split('.') ?? []) {
    if (part === '') return 'Prerelease is empty'
    if (/^0\d+$/.test(part)) return `Numeric PreRelease version must not contain leading zeroes "${part}"`
    if (!/^[0-9A-Za-z-]+$/.test(part)) return `Invalid character(s) found in prerelease "${part}"`
  }
  const wrong = build?.split('.').find((part) => !/^[0-9A-Za-z-]+$/.test(part)) ?? ''
  return wrong === '' ? 'Build meta data is empty' : `Invalid character(s) found in build meta data "${wrong}"`
}

/** Negative if `a` is the lower version. */
export function compareSemver(a: Semver, b: Semver): number {
  for (const [index, number] of a.numbers.entries()) {
    const other = b.numbers[index] ?? 0n
    if (number !== other) return number < other ? -1 : 1
  }
  // A pre-release is lower than its release.
  if (a.prerelease.length === 0 || b.prerelease.length === 0)
    return Math.sign(Number(a.prerelease.length === 0) - Number(b.prerelease.length === 0))
  for (const [index, part] of a.prerelease.entries()) {
    const other = b.prerelease[index]
    if (other === undefined) return 1
    const order = comparePart(part, other)
    if (order !== 0) return order
  }
  return a.prerelease.length < b.prerelease.length ? -1 : 0
}

/** Numbers are compared numerically, and are lower than texts. */
function comparePart(a: string, b: string): number {
  const x = /^\d+$/.test(a)
  const y = /^\d+$/.test(b)
  if (x && y) return Number(BigInt(a) > BigInt(b)) - Number(BigInt(a) < BigInt(b))
  return x === y ? Math.sign(compareText(a, b)) : x ? -1 : 1
}

const two = [semverType, semverType] as const
const number = (id: string, index: number) => [
  member(id, [semverType], intType, ({ numbers }: Semver) => numbers[index] ?? 0n),
]

export const semverFunctions: Functions = {
  semver: [
    global('string_to_semver', [stringType], semverType, semver),
    global('string_bool_to_semver', [stringType, boolType], semverType, semver),
  ],
  isSemver: [
    global('is_semver_string', [stringType], boolType, (text: string) => parseSemver(text) !== undefined),
    global(
      'is_semver_string_bool',
      [stringType, boolType],
      boolType,
      (text: string, normalize: boolean) => parseSemver(text, normalize) !== undefined,
    ),
  ],
  major: number('semver_major', 0),
  minor: number('semver_minor', 1),
  patch: number('semver_patch', 2),
  compareTo: [member('semver_compare_to', two, intType, (a: Semver, b: Semver) => BigInt(compareSemver(a, b)))],
  isGreaterThan: [member('semver_is_greater_than', two, boolType, (a: Semver, b: Semver) => compareSemver(a, b) > 0)],
  isLessThan: [member('semver_is_less_than', two, boolType, (a: Semver, b: Semver) => compareSemver(a, b) < 0)],
}
