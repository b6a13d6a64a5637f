/** A floating point number as Go's %v writes it: with an exponent below 1e-4 and from 1e6 on. */
export function goFloat(value: number): string {
  const [mantissa = '', exponent = ''] = value.toExponential().split('e')
  const power = Number(exponent)
  if (value === 0 || (power >= -4 && power < 6)) return String(value)
  return `${mantissa}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`
}
