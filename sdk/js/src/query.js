// Queries over documents, as the contract writes them.

import { unknownFields } from "./problems.js";

const FIELDS = ["filter", "text", "near", "within", "order", "limit", "cursor", "unchecked"];

/**
 * Converts a query to the contract's record. A path in `order` that begins with `-` sorts in descending
 * order. Throws a TypeError for unknown fields.
 */
export function toQuery(query = {}) {
  const [problem] = unknownFields("the query", query, FIELDS);
  if (problem) throw new TypeError(problem);
  const { filter, text, near, within, order = [], limit = 100, cursor, unchecked = false } = query;
  return {
    filter: toFilter(filter),
    text: text ?? null,
    near: near ?? null,
    within: within ?? null,
    order: [].concat(order).map(toOrder),
    limit,
    cursor: cursor ?? null,
    unchecked,
  };
}

export const toFilter = (filter) => (filter == null ? null : JSON.stringify(filter));

function toOrder(key) {
  return key.startsWith("-") ? { path: key.slice(1), direction: "descending" } : { path: key, direction: "ascending" };
}

export function toDocument({ id, revision, body, createdAt, updatedAt }) {
  return { id, revision, value: JSON.parse(body), createdAt, updatedAt };
}

export function toPage({ hits, next }) {
  const documents = hits.map(({ document, relevance, distanceM }) => ({ ...toDocument(document), relevance, distanceM }));
  return { documents, next };
}

export const toCounts = (lists) => lists.map((list) => list.map(({ value, count }) => ({ value: JSON.parse(value), count })));
