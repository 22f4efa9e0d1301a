// Next steps: calls that a caller can make.

/** The id of the capability of this component, once it is defined. */
let own = null;

export function setOwnId(id) {
  own = id;
}

/** A call of an action of this capability. */
class Step {
  constructor(action, input, details) {
    this.capability = null;
    this.input = { action, ...input };
    Object.assign(this, details);
  }

  /** Adds the capability's id only now, because a step may be declared before the capability. */
  toJSON() {
    return { ...this, capability: own };
  }
}

/** Returns the next step of calling an action of this capability: `step("get", { id }, { after_s: 60 })`. */
export const step = (action, input = {}, details = {}) => new Step(action, input, details);
