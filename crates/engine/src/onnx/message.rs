//! The messages of `onnx.proto`, with its field names and numbers.
//!
//! Scalars have protobuf's default when the file leaves them out. Messages that Faultlens never
//! looks into (functions, training, sparse tensors) stay as bytes.

use bytes::Bytes;

use super::error::Malformed;
use super::field::{Field, Message, Style, messages};
use super::wire::{Reader, Unknown};

messages! {
    /// A model: a graph, and which version of which operators it means.
    ModelProto {
        /// The version of the file format.
        ir_version: i64 = 1;
        /// The program that wrote the file; its quirks are worth knowing.
        producer_name: String = 2;
        /// That program's version.
        producer_version: String = 3;
        /// A reverse domain name for the model's publisher.
        domain: String = 4;
        /// The publisher's version of the model.
        model_version: i64 = 5;
        /// Text for people.
        doc_string: String = 6;
        /// What the model computes.
        graph: Option<GraphProto> = 7;
        /// The operator sets that the nodes' types are looked up in.
        opset_import: Vec<OperatorSetIdProto> = 8;
        /// Further properties, by name.
        metadata_props: Vec<StringStringEntryProto> = 14;
        /// Training methods, as bytes: they play no part in inference.
        training_info: Vec<Bytes> = 20;
        /// Operators defined by the model itself, as bytes; whoever runs a graph must refuse
        /// nodes that call them.
        functions: Vec<Bytes> = 25;
    }

    /// One operator set and its version.
    OperatorSetIdProto {
        /// The set's name; empty for ONNX's own operators.
        domain: String = 1;
        /// The version, on which the meaning of operators depends.
        version: i64 = 2;
    }

    /// A property: a name and its value.
    StringStringEntryProto {
        /// The name.
        key: String = 1;
        /// The value.
        value: String = 2;
    }

    /// A graph of operators, in an order in which they can be computed.
    GraphProto {
        /// The operators; each comes after those whose outputs it takes.
        node: Vec<NodeProto> = 1;
        /// The graph's name.
        name: String = 2;
        /// Constant values by name, mostly weights.
        initializer: Vec<TensorProto> = 5;
        /// Text for people.
        doc_string: String = 10;
        /// What must be given; older files list the initializers here too.
        input: Vec<ValueInfoProto> = 11;
        /// What comes out.
        output: Vec<ValueInfoProto> = 12;
        /// Types of values in between, where the exporter knew them.
        value_info: Vec<ValueInfoProto> = 13;
        /// Quantisation parameters, as bytes.
        quantization_annotation: Vec<Bytes> = 14;
        /// Sparse constants, as bytes; whoever runs a graph must refuse them.
        sparse_initializer: Vec<Bytes> = 15;
        /// Further properties, by name.
        metadata_props: Vec<StringStringEntryProto> = 16;
    }

    /// One application of an operator.
    NodeProto {
        /// The values it takes; an empty name is an optional input left out.
        input: Vec<String> = 1;
        /// The values it makes; an empty name is an optional output left out.
        output: Vec<String> = 2;
        /// The node's own name, which may be missing.
        name: String = 3;
        /// The operator.
        op_type: String = 4;
        /// The operator's settings.
        attribute: Vec<AttributeProto> = 5;
        /// Text for people.
        doc_string: String = 6;
        /// The operator set that the operator is from; empty for ONNX's own.
        domain: String = 7;
        /// Which of several functions of the same name is meant.
        overload: String = 8;
        /// Further properties, by name.
        metadata_props: Vec<StringStringEntryProto> = 9;
    }

    /// One setting of an operator; `type` says which of the other fields holds it.
    AttributeProto {
        /// The setting's name.
        name: String = 1;
        /// The value of an attribute of type FLOAT.
        f: f32 = 2, always_if(is_float);
        /// The value of an attribute of type INT.
        i: i64 = 3, always_if(is_int);
        /// The value of an attribute of type STRING, which need not be UTF-8.
        s: Bytes = 4, always_if(is_string);
        /// The value of an attribute of type TENSOR.
        t: Option<Box<TensorProto>> = 5;
        /// The value of an attribute of type GRAPH: a branch or a loop's body.
        g: Option<Box<GraphProto>> = 6;
        /// The value of an attribute of type FLOATS.
        floats: Vec<f32> = 7;
        /// The value of an attribute of type INTS.
        ints: Vec<i64> = 8;
        /// The value of an attribute of type STRINGS.
        strings: Vec<Bytes> = 9;
        /// The value of an attribute of type TENSORS.
        tensors: Vec<TensorProto> = 10;
        /// The value of an attribute of type GRAPHS.
        graphs: Vec<GraphProto> = 11;
        /// Text for people.
        doc_string: String = 13;
        /// One of [`attribute_type`]; very old files leave it out.
        r#type: i32 = 20;
        /// Inside functions: the attribute of the caller whose value is meant.
        ref_attr_name: String = 21;
    }

    /// A constant: shape, element type and elements.
    TensorProto {
        /// The length of every axis, outermost first; none for a single number.
        dims: Vec<i64> = 1;
        /// The element type, as a number of `TensorProto.DataType`.
        data_type: i32 = 2;
        /// Elements of type float.
        float_data: Vec<f32> = 4, packed;
        /// Elements of the integer types up to 32 bits, bool, float16 and bfloat16.
        int32_data: Vec<i32> = 5, packed;
        /// Elements of type string.
        string_data: Vec<Bytes> = 6;
        /// Elements of type int64.
        int64_data: Vec<i64> = 7, packed;
        /// The value's name in the graph.
        name: String = 8;
        /// The elements as little-endian bytes, instead of any of the typed fields.
        raw_data: Bytes = 9, always_if(has_no_elements);
        /// Elements of type double.
        double_data: Vec<f64> = 10, packed;
        /// Elements of types uint32 and uint64.
        uint64_data: Vec<u64> = 11, packed;
        /// Text for people.
        doc_string: String = 12;
        /// Where the elements lie when `data_location` is [`EXTERNAL`].
        external_data: Vec<StringStringEntryProto> = 13;
        /// 0 when the elements are in this message, [`EXTERNAL`] when in another file.
        data_location: i32 = 14;
        /// Further properties, by name.
        metadata_props: Vec<StringStringEntryProto> = 16;
    }

    /// A value's name and type.
    ValueInfoProto {
        /// The value's name in the graph.
        name: String = 1;
        /// Its type, where it is known.
        r#type: Option<TypeProto> = 2;
        /// Text for people.
        doc_string: String = 3;
        /// Further properties, by name.
        metadata_props: Vec<StringStringEntryProto> = 4;
    }

    /// A value's type. Sequences, maps and optionals stay in `unknown`.
    TypeProto {
        /// The type of a tensor, which nearly every value is.
        tensor_type: Option<TensorTypeProto> = 1;
        /// What the value means, such as an image.
        denotation: String = 6;
    }

    /// A tensor's type (`TypeProto.Tensor`).
    TensorTypeProto {
        /// The element type, as a number of `TensorProto.DataType`.
        elem_type: i32 = 1;
        /// The axes; none when not even their number is known.
        shape: Option<TensorShapeProto> = 2;
    }

    /// The axes of a tensor.
    TensorShapeProto {
        /// One entry per axis, outermost first.
        dim: Vec<DimensionProto> = 1;
    }

    /// The length of one axis (`TensorShapeProto.Dimension`).
    DimensionProto {
        /// The length where it is fixed; optional, since zero is a length and unknown is not.
        dim_value: Option<i64> = 1;
        /// The name of a free length, such as `N` for the batch.
        dim_param: String = 2;
        /// What the axis means.
        denotation: String = 3;
    }
}

/// The `data_location` of a tensor whose elements are in another file.
pub const EXTERNAL: i32 = 1;

/// The values of [`AttributeProto::type`](AttributeProto).
pub mod attribute_type {
    /// The value is in `f`.
    pub const FLOAT: i32 = 1;
    /// The value is in `i`.
    pub const INT: i32 = 2;
    /// The value is in `s`.
    pub const STRING: i32 = 3;
    /// The value is in `t`.
    pub const TENSOR: i32 = 4;
    /// The value is in `g`.
    pub const GRAPH: i32 = 5;
    /// The value is in `floats`.
    pub const FLOATS: i32 = 6;
    /// The value is in `ints`.
    pub const INTS: i32 = 7;
    /// The value is in `strings`.
    pub const STRINGS: i32 = 8;
    /// The value is in `tensors`.
    pub const TENSORS: i32 = 9;
    /// The value is in `graphs`.
    pub const GRAPHS: i32 = 10;
}

// Some readers take a missing value for a mistake, so zero and nothing are written too.
impl AttributeProto {
    fn is_float(&self) -> bool {
        self.r#type == attribute_type::FLOAT
    }

    fn is_int(&self) -> bool {
        self.r#type == attribute_type::INT
    }

    fn is_string(&self) -> bool {
        self.r#type == attribute_type::STRING
    }
}

impl TensorProto {
    fn has_no_elements(&self) -> bool {
        self.dims.contains(&0) && self.data_location != EXTERNAL
    }
}
