/** Quantities by resource name, such as `{ cpu: '4', memory: '8Gi' }`. */
export type ResourceAmounts = Readonly<Record<string, string>>
